/**
 * Compiles everything, without output. Packages export TypeScript, so a program per package would check the files of a shared
 * package once for each package that imports it: the root has one program. The others are of code that runs elsewhere.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../layout.ts';

const others = globSync('{packages,services,infra,test-e2e}/**/tsconfig{,.build}.json', {
  cwd: ROOT,
  exclude: (path) => path.endsWith('node_modules'),
});

/** Each of them checks again what files of another one refer to. */
const CHECKERS = process.env['GOMAXPROCS'] ?? '2';

for (const project of ['tsconfig.json', ...others.toSorted()]) {
  const { status } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['-p', project, '--noEmit', '--checkers', CHECKERS],
    { cwd: ROOT, stdio: 'inherit' },
  );
  if (status !== 0) process.exitCode = 1;
}
