/**
 * Each service as one file, beside which its first process leaves what V8 compiled of it. A service loads a thousand
 * modules; as one file it starts in half of the processor time, and a test run starts some three hundred. `npm test` makes them once
 * for each run; without it services start from their sources. The same for programs of tests.
 */
import { SERVICES, serviceFile } from '@wts/local';
import { build, type Plugin } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { madeOnce } from './made-once.ts';

/**
 * The `import.meta` of a source, by which it finds files beside it and the packages of its service. The build does not know these names,
 * so they are ones that no module has.
 */
const META = `
const { createRequire: $requireOf } = process.getBuiltinModule('node:module');
const { pathToFileURL: $urlOf } = process.getBuiltinModule('node:url');
const require = $requireOf($program);
const $metaOf = (url, dirname) => ({ url, dirname, resolve: (name) => $urlOf($requireOf(url).resolve(name)).href });
`;

/**
 * Runs the file beside it. The cache of Node has of a module only what is compiled while it loads, so each process would compile its
 * functions again. They are left at the end, or after some seconds by a process that is killed later; a migration calls few.
 */
const START = `import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { constants, Script } from 'node:vm';
const filename = import.meta.filename.replace(/mjs$/, 'js');
let cachedData;
try {
  cachedData = readFileSync(filename + '.cache');
} catch {}
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const script = new Script(readFileSync(filename, 'utf8'), { filename, cachedData, importModuleDynamically });
const leave = () => {
  try {
    const written = filename + '.' + process.pid;
    writeFileSync(written, script.createCachedData());
    renameSync(written, filename + '.cache');
  } catch {
    // The run has ended.
  }
};
// V8 rejects those of a process with other options of Node.
if (script.cachedDataRejected !== false && process.argv[2] !== 'migrate') {
  setTimeout(leave, 5_000).unref();
  process.once('exit', leave);
}
await script.runInThisContext()(filename);
`;

const sources: Plugin = {
  name: 'sources',
  setup: (building) =>
    building.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta')) return null;
      const { href } = pathToFileURL(path);
      const meta = `const importMeta = $metaOf(${JSON.stringify(href)}, ${JSON.stringify(join(path, '..'))});`;
      // What is loaded only when it is needed is part of the file too.
      const lazy = source.replaceAll('createRequire(import.meta.url)(', 'require(');
      return { loader: 'ts', contents: `${meta}${lazy.replaceAll('import.meta', 'importMeta')}` };
    }),
};

/**
 * A module of Node as its exports are. An import would also read each of them, and so load parts of Node that no service needs, at
 * every start.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup: (building) => {
    building.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path: path.replace(/^node:/, ''), namespace: 'builtin' } : null,
    );
    building.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
    }));
  },
};

type EntryPoints = { readonly in: string; readonly out: string }[];

/** Drivers of databases that knex would load for others than PostgreSQL, and an optional part of pg. */
const ABSENT = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];

/**
 * Of Node, for the processes of services, so that a start collects little garbage: V8 begins with a sixteenth of this space. With a
 * larger heap too (`--initial-heap-size`) V8 would reject what Node has compiled of its own modules: 60 ms of each start.
 */
export const NODE_OPTIONS = process.env['TEST_SCRATCH'] === undefined ? [] : ['--min-semi-space-size=16'];

/** The program of a service. */
export async function programOf(service: string): Promise<string> {
  const services = () => SERVICES.map(({ name }) => ({ in: serviceFile(name, 'main'), out: name }));
  return builtOr(serviceFile(service, 'main'), 'services', service, services);
}

/** A program beside a test, which starts several processes of it. It must not import the testkit. */
export async function builtProgram(file: string): Promise<string> {
  return builtOr(file, file.replaceAll('/', '-'), 'main', () => [{ in: file, out: 'main' }]);
}

/** One file of a folder that is made once for a run, or the source outside of a run. */
async function builtOr(source: string, name: string, file: string, entryPoints: () => EntryPoints): Promise<string> {
  const run = process.env['TEST_SCRATCH'];
  if (run === undefined) return source;
  const folder = join(run, name);
  await madeOnce(folder, (made) => make(made, entryPoints()));
  return join(folder, `${file}.mjs`);
}

async function make(made: string, entryPoints: EntryPoints): Promise<string> {
  await build({
    entryPoints,
    outdir: made,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ABSENT,
    // Of a shorter text a process starts sooner; names stay.
    minifyWhitespace: true,
    // V8 keeps a text in half of the memory when all of it is ASCII.
    legalComments: 'none',
    // A function, because a script cannot wait at its top.
    banner: { js: `(async ($program) => {${META}` },
    footer: { js: '})' },
    plugins: [sources, builtins],
  });
  for (const { out } of entryPoints) writeFileSync(join(made, `${out}.mjs`), START);
  return made;
}
