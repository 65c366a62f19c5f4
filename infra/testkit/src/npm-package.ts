import { LOCAL } from '@wts/local';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.ts';

const run = promisify(execFile);
const FETCH_MS = 180_000;

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** Of its archive, in base64, as `integrity` in a lock file. */
  readonly sha512: string;
}

/** Where a package, or what is made from it, stays for all test runs. */
export function folderOfPackage({ name, version }: NpmPackage): string {
  return join(LOCAL, 'packages', `${name}@${version}`.replaceAll('/', '-'));
}

/**
 * The folder of a package without its dependencies, fetched on first use. For large packages that few tests need, because each first
 * `npm start` would download a dependency of the repository.
 */
export async function npmPackage(wanted: NpmPackage): Promise<string> {
  const folder = folderOfPackage(wanted);
  await madeOnce(folder, (work) => unpackPackage(wanted, work));
  return folder;
}

/** Downloads a package and unpacks it in the folder `work`. */
export async function unpackPackage({ name, version, sha512 }: NpmPackage, work: string): Promise<string> {
  // Its cache is here, because a user may have no home that can be written.
  const env = { ...process.env, npm_config_cache: join(work, 'cache'), npm_config_update_notifier: 'false' };
  await run('npm', ['pack', `${name}@${version}`], { cwd: work, env, timeout: FETCH_MS });
  const archive = join(work, readdirSync(work).find((file) => file.endsWith('.tgz')) ?? '');
  const actual = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (actual !== sha512) throw new Error(`the registry delivered another file, with the SHA-512 ${actual}`);
  await run('tar', ['-xzf', archive], { cwd: work });
  return join(work, 'package');
}
