import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { ROOT } from '../src/tree.ts';

/** Imports modules in a process of its own and prints the packages of CommonJS modules that came with them. */
const PRINT_PACKAGES = `
  for (const url of process.argv.slice(1)) await import(url);
  const { createRequire } = await import('node:module');
  const files = Object.keys(createRequire('file:///').cache);
  const packages = files.map((file) => /.*[/]node_modules[/]((?:@[^/]+[/])?[^/]+)[/]/.exec(file)?.[1]);
  console.log(JSON.stringify([...new Set(packages)]));
  process.exit(0);
`;

function packagesLoadedBy(...paths: readonly string[]): string[] {
  const urls = paths.map((path) => new URL(path, `file://${ROOT}/`).href);
  const args = ['--input-type=module', '--eval', PRINT_PACKAGES, ...urls];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as string[];
}

describe('the modules a process loads', () => {
  it('leave out knex in every service, which does not migrate', () => {
    const packages = packagesLoadedBy(...globSync('services/*/src/service.ts', { cwd: ROOT }));
    assert.ok(packages.includes('undici'), 'the list is not that of loaded modules');
    assert.ok(!packages.includes('knex'), 'only `migrate` of packages/service-kit/src/main may load it');
  });

  it('leave out nats where the log is only read', () => {
    const readers = ['log', 'read-model'].map((name) => `packages/${name}/src/index.ts`);
    assert.ok(!packagesLoadedBy(...readers).includes('nats'));
  });

  it('hold knex where a service migrates, and nats where it follows the stream', () => {
    const packages = packagesLoadedBy('packages/service-kit/src/migrate/index.ts', 'packages/log/src/stream/index.ts');
    for (const name of ['knex', 'nats']) assert.ok(packages.includes(name), name);
  });
});
