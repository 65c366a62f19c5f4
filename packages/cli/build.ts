/** Writes `dist/`, the published package: one program in chunks that are loaded when a command needs them. `npm run pack` packs it. */
import { build } from 'esbuild';
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HERE = import.meta.dirname;
/** The oldest Node that the libraries inside support. */
const TARGET = 'node22.12';

/** What is loaded when a command runs. */
const LAZY =
  /packages\/cli\/src\/(?:(?:commands|session)\/[\w-]+|program\/(?:parse|complet\w+|help-command)|output\/(?:table|details))\.ts$/;
const START = join(HERE, 'src', 'index.ts');

/**
 * Modules that the same files need are in one chunk. When each lazy file names the start, all that the start needs is needed by the
 * same files, so `--help` reads one chunk and not a dozen.
 */
function withStart({ path }: { readonly path: string }): { readonly contents: string; readonly loader: 'ts' } {
  return { contents: `import ${JSON.stringify(START)};\n${readFileSync(path, 'utf8')}`, loader: 'ts' };
}

const to = process.argv[2] ?? join(HERE, 'dist');
rmSync(to, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { wts: join(HERE, 'src', 'main.ts') },
  outdir: to,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: TARGET,
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  legalComments: 'none',
  logLevel: 'error',
  plugins: [{ name: 'start in one chunk', setup: (own) => own.onLoad({ filter: LAZY }, withStart) }],
});
for (const name of ['LICENSE', 'README.md']) copyFileSync(join(HERE, name), join(to, name));
writeFileSync(join(to, 'THIRD-PARTY-NOTICES.txt'), notices(Object.keys(metafile.inputs)));
writeFileSync(join(to, 'package.json'), JSON.stringify(publishedManifest(), null, 2));

/** The licences of the packages of others that are inside. */
function notices(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((input) => (input.includes('node_modules/') ? [packageFolder(join(process.cwd(), input))] : [])),
  );
  return [...folders]
    .toSorted()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
      const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
      if (file === undefined) throw new Error(`${name} has no file with its licence`);
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json')) || !/node_modules\/(?:@[^/]+\/)?[^/]+$/.test(folder))
    folder = dirname(folder);
  return folder;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly scripts?: object;
  readonly devDependencies?: object;
  readonly exports?: object;
}

/** In the repository the package is its sources, and what it is made of is a dependency. */
function publishedManifest(): object {
  const manifest = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as Manifest;
  const {
    private: _,
    scripts: _scripts,
    devDependencies: _devDependencies,
    exports: _exports,
    ...published
  } = manifest;
  // A program for one platform, so it cannot be inside. Without it a login asks for another store of keys.
  const optionalDependencies = { '@napi-rs/keyring': '^2.1.2' };
  return { ...published, bin: { wts: './wts.mjs' }, optionalDependencies };
}
