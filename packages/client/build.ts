/** Writes `dist/`, the published form: JavaScript for any platform, types, source maps. `npm pack` and `pnpm pack` run it first. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const TSC = join(HERE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

const to = process.argv[2] ?? join(HERE, 'dist');
if (!existsSync(TSC)) throw new Error('The dependencies are not installed. Run once in the root: npm run check');
rmSync(to, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, '-p', 'tsconfig.build.json', '--outDir', to], { cwd: HERE, stdio: 'inherit' });
// The compiler rewrites the names of imported files in JavaScript only.
for (const name of readdirSync(to).filter((file) => file.endsWith('.d.ts'))) {
  const text = readFileSync(join(to, name), 'utf8');
  writeFileSync(join(to, name), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
}
