import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seriesOf } from '../src/catalog.ts';
import { FOLDER, generatedFiles, METRICS, RULES, RULE_TESTS } from '../src/files.ts';

const RUNBOOK = join(FOLDER, '../docs/runbook.md');

describe('what npm run observability writes', () => {
  it('is as it was made last', async () => {
    for (const [file, text] of generatedFiles())
      assert.equal(
        await readFile(join(FOLDER, file), 'utf8'),
        text,
        `to update infra/observability/${file}: npm run observability`,
      );
  });
});

describe('every metric of a rule, its test and a dashboard', () => {
  it('is measured', async () => {
    const measured = seriesOf(await readFile(METRICS, 'utf8'));
    const texts = new Map(generatedFiles());
    for (const file of [RULES, RULE_TESTS]) texts.set(file, await readFile(file, 'utf8'));
    const unknown = [...texts].flatMap(([file, text]) =>
      matchesOf(text, /\b((?:wts|nodejs|process)_\w+)/g).flatMap((name) =>
        measured.has(name) ? [] : `${file}: ${name}`,
      ),
    );
    assert.deepEqual(unknown, [], 'is no name of metrics.md');
  });
});

describe('every alert', () => {
  it('has a section of the runbook, to which it links, and a test', async () => {
    const [rules, tests, runbook] = await Promise.all(
      [RULES, RULE_TESTS, RUNBOOK].map((file) => readFile(file, 'utf8')),
    );
    const alerts = matchesOf(rules, /- alert: (\w+)/g);
    const links = alerts.map((name) => `infra/docs/runbook.md#${name.toLowerCase()}`);
    assert.deepEqual(matchesOf(rules, /runbook_url: (\S+)/g), links);
    assert.deepEqual(matchesOf(runbook, /^## (\w+)$/gm), alerts);
    assert.deepEqual(matchesOf(tests, /alertname="(\w+)"/g), alerts);
  });
});

function matchesOf(text = '', pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}
