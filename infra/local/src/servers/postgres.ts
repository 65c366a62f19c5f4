/**
 * Runs a PostgreSQL server on loopback with passwords and the durability settings of production. Its data outlives it; its
 * port may change from start to start.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectTo } from '../database/connect.ts';
import { freeBytes } from '../processes/disk.ts';
import { launch, type RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { freePort } from '../processes/ports.ts';
import { UserError, indented, textOf } from '../user-error.ts';
import { findPostgres, type PostgresPrograms } from './postgres-programs.ts';
import { controlServer, type CrashHandlers, type ServerControl } from './server-control.ts';
import { copyServer, copyTree } from './standby.ts';
import { unprivileged, type Unprivileged } from './unprivileged.ts';

export interface PostgresOptions extends CrashHandlers {
  readonly directory: string;
  readonly log: string;
  readonly records: string;
  readonly password: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port?: number | undefined;
  /** Added to the message when the data cannot be used. */
  readonly resetHint: string;
  /**
   * True: initdb does not wait for the disk (the server still syncs), and the data is lost at the end: its large files are emptied,
   * and all files stay until the caller removes the directory. ext4 without a journal searches past inodes that were deleted in the
   * last minutes for each new file, so after the removal of a few servers the next one would start seconds later.
   */
  readonly throwaway?: boolean;
  /** Default: the programs that `findPostgres` finds. */
  readonly programs?: PostgresPrograms;
  /** Server settings in addition to the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The data of a stopped server, with the same password: start with a copy of it. */
  readonly copyOf?: string;
  /** The URL of a superuser of another server: start a streaming standby of it, with the same password. */
  readonly standbyOf?: string;
}

export interface PostgresServer extends ServerControl {
  readonly version: string;
  readonly source: string;
  /** True: the data directory was created. */
  readonly isNew: boolean;
  readonly port: number;
  /** Where its data is: elsewhere than `options.directory` when it runs as another user. */
  readonly data: string;
  /** The log file. */
  readonly log: string;
  /** The URL of the superuser in a database. */
  readonly url: (database?: string) => string;
}

const exec = promisify(execFile);
const SUPERUSER = 'postgres';
const READY_MS = 60_000;
const EMPTIED_BYTES_MIN = 64 * 1024;

export const CONNECTIONS_MAX = 300;

// Small enough for a laptop. The durability settings (fsync, synchronous_commit, full_page_writes) keep their defaults,
// because tests that kill the server, and benchmarks, need them.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: String(CONNECTIONS_MAX),
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] %q%a ',
  // Logs waits of more than a second; commits normally wait for the lock of the log for a shorter time.
  log_lock_waits: 'on',
};

/** What a server shares in memory is a part of its data: when it was killed it would stay in /dev/shm, unless the server starts again. */
const OF_ITS_DATA = { dynamic_shared_memory_type: 'mmap' };

/** For the server that all tests of a run share. It has hundreds of databases, which autovacuum visits one after the other. */
export const SHARED_BY_TESTS: Readonly<Record<string, string>> = {
  autovacuum_naptime: '10min',
  max_connections: '600',
};

export async function openPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const programs = options.programs ?? findPostgres(options.env);
  const user = unprivileged(programs);
  const data = user.place(options.directory);
  const port = await freePort(options.port);
  const isNew = !existsSync(join(data, 'PG_VERSION'));
  if (!isNew) refuseOtherMajor(data, programs, options.resetHint);
  else if (options.standbyOf !== undefined) await copyServer(options.standbyOf, data, user);
  else if (options.copyOf !== undefined) copyTree(options.copyOf, data, user);
  else await initialize(data, programs, user, options);
  const url = (database = 'postgres') => `postgres://${SUPERUSER}:${options.password}@127.0.0.1:${port}/${database}`;
  const control = await controlServer(
    {
      ...options,
      name: 'PostgreSQL',
      launch: () => startServer(options, { data, port, user, url: url() }),
      stopSignal: 'SIGINT',
    },
    () => {
      if (!options.throwaway) return;
      if (data === options.directory) emptyLargeFiles(data);
      else rmSync(data, { recursive: true, force: true });
    },
  );
  return { version: programs.version, source: programs.source, isNew, port, data, log: options.log, url, ...control };
}

/**
 * Gives most of the disk back. Only a twentieth of the files have this size. On a busy machine emptying all of them takes 2 ms for each,
 * in which the process can do nothing else, and a server with many databases has thousands.
 */
function emptyLargeFiles(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    if (statSync(file).size >= EMPTIED_BYTES_MIN) truncateSync(file);
  }
}

/** Removes the data from where this user's server stores it. The server must not run. */
export function removePostgresData(directory: string, env: NodeJS.ProcessEnv): void {
  rmSync(directory, { recursive: true, force: true });
  if (process.getuid?.() === 0)
    rmSync(unprivileged(findPostgres(env)).place(directory), { recursive: true, force: true });
}

function refuseOtherMajor(data: string, programs: PostgresPrograms, resetHint: string): void {
  const major = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (major === String(programs.major)) return;
  throw new UserError(
    `The data in ${data} was written by PostgreSQL ${major}. PostgreSQL ${programs.version} (${programs.source}) cannot read it.\n` +
      `To keep the data, set PG_BIN to the programs of PostgreSQL ${major}.\n${resetHint}.`,
  );
}

/** Runs initdb in another directory and renames it at the end, so that an interrupted initdb leaves no usable directory. */
async function initialize(data: string, { major }: PostgresPrograms, user: Unprivileged, options: PostgresOptions) {
  const fresh = `${data}.new`;
  const passwordFile = `${data}.password`;
  const base = dirname(data);
  for (const path of [fresh, data]) rmSync(path, { recursive: true, force: true });
  mkdirSync(base, { recursive: true });
  try {
    mkdirSync(fresh, { mode: 0o700 });
    writeFileSync(passwordFile, options.password, { mode: 0o600 });
    user.own(fresh);
    user.own(passwordFile);
    // A client computes 4,096 hashes for SCRAM, and the servers of a test run have thousands of connections.
    const auth = options.throwaway ? 'md5' : 'scram-sha-256';
    const credentials = ['-U', SUPERUSER, `--auth=${auth}`, `--pwfile=${passwordFile}`];
    const speed = options.throwaway ? ['--no-sync'] : [];
    const { command, args } = user.command('initdb', [
      '-D',
      fresh,
      '-E',
      'UTF8',
      ...localeOf(major),
      ...credentials,
      ...speed,
    ]);
    await exec(command, args, { env: user.env, cwd: '/', timeout: READY_MS, ...user.as });
    renameSync(fresh, data);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    const { stderr } = error as { stderr?: string };
    throw failure('PostgreSQL could not create its data directory', (stderr ?? textOf(error)).trim(), base);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Sorts text by code points on every machine, whatever locales it has. */
function localeOf(major: number): string[] {
  if (major >= 17) return ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  return [process.platform === 'linux' ? '--locale=C.UTF-8' : '--locale=C'];
}

async function startServer(
  options: PostgresOptions,
  { data, port, user, url }: { data: string; port: number; user: Unprivileged; url: string },
): Promise<RunningProcess> {
  removeStalePidFile(data);
  const { command, args } = user.command('postgres', [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries({ ...SETTINGS, ...(options.throwaway ? OF_ITS_DATA : {}), ...options.settings }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    ),
  ]);
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const server = await launch({
      name: 'postgres',
      command,
      args,
      env: user.env,
      log: options.log,
      records: options.records,
      background: true,
      ...user.as,
    });
    const problem = await untilReady(server, url, deadline);
    if (problem === null) return server;
    const lines = lastLines(options.log, 12, server.logStart);
    await server.stop('SIGQUIT', 5_000);
    if (problem === 'password') {
      throw new UserError(
        `The PostgreSQL data in ${data} has other passwords than those stored here.\n${options.resetHint}.`,
      );
    }
    // After a kill the last processes of the old server take a moment to exit.
    if (!/shared memory block|lock file "postmaster.pid" already exists/.test(lines) || Date.now() > deadline) {
      throw failure(
        problem === 'deadline' ? `PostgreSQL was not ready in ${READY_MS / 1000} s` : 'PostgreSQL did not start',
        lines,
        dirname(data),
      );
    }
    await sleep(50);
  }
}

async function untilReady(
  server: RunningProcess,
  url: string,
  deadline: number,
): Promise<'exited' | 'deadline' | 'password' | null> {
  while (Date.now() < deadline) {
    if (server.exit !== null) return 'exited';
    try {
      await using _ = await connectTo(url, { connectionTimeoutMillis: 5_000 });
      return null;
    } catch (error) {
      if ((error as { code?: string }).code === '28P01') return 'password';
      await sleep(15);
    }
  }
  return 'deadline';
}

/** The server does not start when its old pid file names a running process, even when that is another program. */
function removeStalePidFile(data: string): void {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  const command = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  // Without `ps` the file stays, and the start fails only when another program has that pid.
  if (command.error === undefined && !/postgres|unshare/.test(command.stdout)) rmSync(file, { force: true });
}

function failure(what: string, detail: string, directory: string): UserError {
  const full = /No space left on device|Disk quota exceeded/i.test(detail) || freeBytes(directory) < 64 * 1024 * 1024;
  const advice = full ? `\nThe disk of ${directory} is full. Free some space and start again.` : '';
  return new UserError(`${what}.${advice}${detail === '' ? '' : `\n${indented(detail)}`}`);
}
