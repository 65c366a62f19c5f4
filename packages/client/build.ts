/**
 * Writes `dist/`: the client for any platform, and its types, for which those of the contracts are laid beside it. The
 * contracts leave no trace at run time: they are imported as types only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const TSC = join(HERE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

const to = process.argv[2] ?? join(HERE, 'dist');
const compile = (...args: string[]): void => {
  execFileSync(process.execPath, [TSC, ...args], { cwd: HERE, stdio: 'inherit' });
};
compile('-p', 'tsconfig.build.json', '--outDir', to);
compile('-p', 'tsconfig.contracts.json', '--outDir', join(to, 'contracts'));
for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.d.ts')) continue;
  const text = readFileSync(join(to, name), 'utf8');
  const declared = text
    .replaceAll("'@wts/contracts'", "'./contracts/index.js'")
    .replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'");
  writeFileSync(join(to, name), declared);
}
