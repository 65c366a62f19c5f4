import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeSecrets } from '../src/installation/compose-secrets.ts';
import { ROOT } from '../src/layout.ts';
import { SERVICES } from '../src/services.ts';
import { describeSettings } from '../src/settings-reference.ts';

describe('the compose file', () => {
  it('gives every service each setting that it must have', async () => {
    const compose = await readFile(join(ROOT, 'infra/compose.yaml'), 'utf8');
    const shared = namesIn(block(compose, 'x-environment: &environment'));
    for (const { name } of SERVICES) {
      const given = [...shared, ...namesIn(block(compose, `  ${name}:`))];
      for (const { variable, required } of (await describeSettings(name)).settings)
        if (required) assert.ok(given.includes(variable), `${name}: ${variable}`);
    }
  });

  it('needs no secret that npm run secrets does not make', async () => {
    const compose = await readFile(join(ROOT, 'infra/compose.yaml'), 'utf8');
    const made = Object.keys(await composeSecrets('localhost'));
    const needed = [...compose.matchAll(/\$\{([A-Z_]+)(?::\?[^}]*)?\}/g)].map(([, variable = '']) => variable);
    assert.ok(needed.length > 20);
    assert.deepEqual(
      needed.filter((variable) => !made.includes(variable)),
      [],
    );
  });
});

/** The lines of a block of YAML, which are indented more than its first one. */
function block(text: string, first: string): string {
  const lines = text.split('\n');
  const start = lines.indexOf(first);
  assert.notEqual(start, -1, first);
  const indent = /^ */.exec(first)?.[0].length ?? 0;
  const length = lines.slice(start + 1).findIndex((line) => line !== '' && !line.startsWith(' '.repeat(indent + 1)));
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}

function namesIn(yaml: string): string[] {
  return [...yaml.matchAll(/^ +([A-Z][A-Z0-9_]*): /gm)].map(([, variable = '']) => variable);
}
