/** Writes `dist/`, the published package: JavaScript for any platform, types, source maps. `npm run pack` packs it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const TSC = join(HERE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

const to = process.argv[2] ?? join(HERE, 'dist');
if (!existsSync(TSC)) throw new Error('The dependencies are not installed. Run once in the root: npm run check');
rmSync(to, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, '-p', 'tsconfig.build.json', '--outDir', to], { cwd: HERE, stdio: 'inherit' });
const files = readdirSync(to, { encoding: 'utf8', recursive: true });
// The compiler rewrites the names of imported files in JavaScript only.
for (const name of files.filter((file) => file.endsWith('.d.ts'))) {
  const text = readFileSync(join(to, name), 'utf8');
  writeFileSync(join(to, name), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
}
for (const name of ['LICENSE', 'README.md', 'local-copy.md', 'webhooks.md'])
  copyFileSync(join(HERE, name), join(to, name));
writeFileSync(join(to, 'package.json'), JSON.stringify(publishedManifest(), null, 2));

/** In the repository the package is its sources. */
function publishedManifest(): object {
  const manifest = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as {
    private?: boolean;
    scripts?: object;
    devDependencies?: object;
    exports: Readonly<Record<string, string>>;
  };
  const { private: _, scripts: _scripts, devDependencies: _devDependencies, exports: sources, ...published } = manifest;
  const built = Object.entries(sources).map(([name, source]) => {
    const file = source.replace('./src/', './').replace('.ts', '');
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }];
  });
  const exports = { ...Object.fromEntries(built), './package.json': './package.json' } as object;
  return { ...published, main: './index.js', types: './index.d.ts', exports };
}
