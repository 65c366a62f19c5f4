import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = join(import.meta.dirname, '..');
const TSC = join(PACKAGE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

const CONSUMER = `
import { SyncClient } from './index.js';
const client = new SyncClient({ baseUrl: 'https://api.example.com', token: async () => 'token' });
const { results } = await client.mutate([{ modelName: 'Task', modelId: 'x', action: 'DELETE' }]);
const [first] = results;
if (first?.success === false) first.error satisfies string;
// @ts-expect-error: an accepted change has no error
if (first?.success === true) first.error;
for await (const event of client.follow()) if (event.type === 'delta') event.actions[0]?.syncId satisfies string | undefined;
// @ts-expect-error: no such action
await client.mutate([{ modelName: 'Task', modelId: 'x', action: 'ERASE' }]);
`;

describe('the built client', function build() {
  this.timeout(60_000);
  const built = mkdtempSync(join(tmpdir(), 'wts-client-'));
  before(() => execFileSync(process.execPath, [join(PACKAGE, 'build.ts'), built]));
  after(() => rmSync(built, { recursive: true }));

  it('imports nothing but its own files', () => {
    const files = readdirSync(built).filter((name) => name.endsWith('.js'));
    assert.ok(files.includes('index.js'));
    for (const file of files) {
      const imports = readFileSync(join(built, file), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g);
      for (const [, name = ''] of imports) assert.ok(files.includes(name.replace('./', '')), `${file} imports ${name}`);
    }
  });

  it('contains no run-time code of the contracts', () => {
    assert.deepEqual(
      readdirSync(join(built, 'contracts'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\.[cm]?js$/.test(name),
      ),
      [],
    );
  });

  it('has types that stand alone, on any platform', () => {
    writeFileSync(join(built, 'consumer.mts'), CONSUMER);
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext'];
    const platform = ['--lib', 'esnext,dom,dom.iterable,dom.asynciterable', '--types', ''];
    const result = execFileSync(process.execPath, [TSC, ...options, ...platform, 'consumer.mts'], { cwd: built });
    assert.equal(String(result), '');
  });
});
