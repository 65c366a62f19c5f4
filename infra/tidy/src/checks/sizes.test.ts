import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { plantedTree } from '../tree.ts';
import { longFiles, longFunctions, readmes } from './sizes.ts';

const lines = (count: number) => 'x += 1;\n'.repeat(count);

describe('sizes', () => {
  it('takes a file of 400 lines and refuses one of 401', () => {
    const findings = longFiles(plantedTree({ 'a.ts': lines(400), 'b.ts': lines(401), 'c.json': lines(900) }));
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['b.ts'],
    );
  });

  it('requires a README of at most 60 lines in every folder, and one of any length in the root', () => {
    const tree = plantedTree({
      'README.md': lines(200),
      'packages/a/src/a.ts': '',
      'services/b/README.md': lines(61),
      'infra/c/README.md': lines(60),
    });
    assert.deepEqual(
      readmes(tree).map(({ path }) => path),
      ['packages/a/README.md', 'services/b/README.md'],
    );
  });

  it('refuses a function of more than 70 lines in every position', () => {
    const findings = onDisk({
      'a.ts': `let x = 0;\nexport function fits() {\n${lines(68)}}\nexport function bursts() {\n${lines(69)}}\n`,
      'b.ts': `let x = 0;\nexport const arrow = () => {\n${lines(80)}};\nclass A {\n  method() {\n${lines(80)}  }\n}\n`,
    });
    assert.deepEqual(findings, ['a.ts:72', 'b.ts:2', 'b.ts:85']);
  });

  it('takes a long chapter of tests, and refuses a long test in it', () => {
    const findings = onDisk({
      'a.test.ts': `let x = 0;\ndescribe('a', () => {\n${lines(80)}  it('b', () => {\n${lines(80)}  });\n});\n`,
    });
    assert.deepEqual(findings, ['a.test.ts:83']);
  });
});

/** The linter measures functions, so these files are real. */
function onDisk(files: Readonly<Record<string, string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'tidy-test-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return longFunctions(plantedTree(files), root)
      .map(({ path, line }) => `${path}:${line}`)
      .toSorted();
  } finally {
    rmSync(root, { recursive: true });
  }
}
