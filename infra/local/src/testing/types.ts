/**
 * Compiles everything, without output. Packages export TypeScript, so that a program per package would check the files of a
 * shared package once for each package that imports it: packages with the usual options are one program.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ROOT } from '../layout.ts';

const ALL = 'infra/local/tsconfig.all.json';
const USUAL = { compilerOptions: { types: ['node', 'mocha'] }, include: ['**/*.ts'] };

const found = globSync('{packages,services,infra,test-e2e}/**/tsconfig{,.build}.json', {
  cwd: ROOT,
  exclude: (path) => path.endsWith('node_modules'),
});
if (found.length === 0) throw new Error('no tsconfig.json was found');

for (const project of [ALL, ...found.filter((file) => !isUsual(file)).toSorted()]) {
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--noEmit', '--checkers', '2'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}

function isUsual(file: string): boolean {
  const { extends: _base, ...own } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { extends: string };
  return isDeepStrictEqual(own, USUAL);
}
