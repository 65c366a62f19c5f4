/** Debian and Ubuntu packages for tests: downloaded and unpacked below `.local`, not installed, without root. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { aptOptions } from '../../bootstrap/apt.mjs';
import { LOCAL } from '../layout.ts';

const run = promisify(execFile);
const FETCH_MS = 180_000;
const APT = join(LOCAL, 'packages', 'apt');
/** Needed by the scripts that install a package, which nothing here runs: a third of what there would be to download and unpack. */
const INSTALLERS = /^(lib)?perl|^(adduser|debconf|dpkg|libc-l10n|locales|passwd|tar|ucf)$/;
/** The system's own stays, because it must be of one version with the loader. */
const LIBC = 'libc6';

export interface PackageTree {
  readonly root: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraryPath: string;
}

/**
 * Downloads packages with what their programs depend on, whatever this system has. It creates the folder by a rename, so that a failed
 * download leaves nothing and parallel downloads do not conflict.
 */
export async function fetchDebianPackages(names: readonly string[], directory: string): Promise<PackageTree> {
  const tree = join(directory, 'tree');
  if (!existsSync(tree)) {
    mkdirSync(directory, { recursive: true });
    const work = mkdtempSync(join(directory, 'fetch-'));
    try {
      renameSync(await unpack(names, work), tree);
    } catch (error) {
      if (!existsSync(tree)) throw error;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return { root: tree, libraryPath: libraryFolders(tree).join(':') };
}

async function unpack(names: readonly string[], work: string): Promise<string> {
  const [debs, tree] = [join(work, 'debs'), join(work, 'tree')];
  for (const path of [debs, tree]) mkdirSync(path);
  const options = await aptOptions(APT);
  await run('apt-get', [...options, '-qq', 'download', ...withDependencies(options, names)], {
    cwd: debs,
    timeout: FETCH_MS,
  });
  for (const deb of readdirSync(debs)) await run('dpkg', ['-x', join(debs, deb), tree], { timeout: FETCH_MS });
  return tree;
}

/** The usual library folders, and folders below them with private libraries of packages. */
function libraryFolders(tree: string): string[] {
  const bases = ['usr/lib', 'lib'].map((base) => join(tree, base)).filter((path) => existsSync(path));
  const usual = bases.flatMap((base) => foldersIn(base).filter((path) => path.includes('-linux-gnu')));
  const special = usual.flatMap(foldersIn).filter((path) => readdirSync(path).some((name) => /^lib.*\.so/.test(name)));
  return [...bases, ...usual, ...special];
}

function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

/**
 * The packages and all that their programs depend on, from a simulation by apt-get, which needs no rights. It starts from an empty list of
 * installed packages, because a package that the system has is not in the tree, and a program may look for its files there.
 */
function withDependencies(options: readonly string[], names: readonly string[]): string[] {
  const nothingInstalled = ['-o', 'Dir::State::status=/dev/null'];
  const command = ['install', '--no-install-recommends', '--simulate', '-qq', '-y', ...names];
  const plan = execFileSync('apt-get', [...options, ...nothingInstalled, ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return [...plan.matchAll(/^Inst (\S+) /gm)]
    .flatMap((match) => match[1] ?? [])
    .filter((name) => name !== LIBC && !INSTALLERS.test(name));
}
