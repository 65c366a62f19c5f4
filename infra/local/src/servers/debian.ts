/** The last resort on Debian and Ubuntu: packages fetched and unpacked below `.local`, nothing installed, no root needed. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FETCH_MS = 180_000;

export interface PackageTree {
  readonly root: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraryPath: string;
}

export function newestPostgresPackage(majorMin: number): string {
  const listed = aptCache(['search', '--names-only', '^postgresql-[0-9]+$']);
  const majors = [...listed.matchAll(/^postgresql-(\d+) /gm)]
    .map((match) => Number(match[1]))
    .filter((major) => major >= majorMin);
  if (majors.length === 0) throw new Error(`no package of PostgreSQL ${majorMin} or newer`);
  return `postgresql-${Math.max(...majors)}`;
}

/** The packages with everything they need that this system lacks. Complete or not there: a broken fetch leaves nothing. */
export async function fetchDebianPackages(names: readonly string[], directory: string): Promise<PackageTree> {
  const tree = join(directory, 'tree');
  if (!existsSync(tree)) {
    const debs = join(directory, 'debs');
    const partial = join(directory, 'partial');
    for (const path of [debs, partial]) {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path, { recursive: true });
    }
    await run('apt-get', ['-qq', 'download', ...missingPackages(names)], { cwd: debs, timeout: FETCH_MS });
    for (const deb of readdirSync(debs)) await run('dpkg', ['-x', join(debs, deb), partial], { timeout: FETCH_MS });
    rmSync(debs, { recursive: true, force: true });
    renameSync(partial, tree);
  }
  const libraries = ['usr/lib', 'lib'].flatMap((base) => {
    const path = join(tree, base);
    return existsSync(path)
      ? [
          path,
          ...readdirSync(path)
            .filter((name) => name.includes('-linux-gnu'))
            .map((name) => join(path, name)),
        ]
      : [];
  });
  return { root: tree, libraryPath: libraries.join(':') };
}

/** What an installation would fetch, in the words of apt itself; it needs no rights to tell. */
function missingPackages(names: readonly string[]): string[] {
  const plan = execFileSync('apt-get', ['install', '--no-install-recommends', '--print-uris', '-qq', '-y', ...names], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const needed = [...plan.matchAll(/^'[^']+' ([^_\s]+)_/gm)].flatMap((match) => match[1] ?? []);
  return [...new Set([...names, ...needed])];
}

function aptCache(args: readonly string[]): string {
  try {
    return execFileSync('apt-cache', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    throw new Error('this system has no apt');
  }
}
