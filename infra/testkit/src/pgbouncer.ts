import { freePort, launch } from '@wts/local';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findServer, untilAccepting } from './programs.ts';
import { scratch } from './scratch.ts';

export type PoolMode = 'session' | 'transaction' | 'statement';

/** A real PgBouncer, listening on 127.0.0.1. */
export interface PgBouncer extends AsyncDisposable {
  /** The same URL, with the address of PgBouncer. */
  readonly through: (url: string) => string;
}

interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** URLs of all roles that will connect, all of one server. */
  readonly urls: readonly string[];
  /** Lines of its configuration. */
  readonly settings?: readonly string[];
}

const NOBODY = 65_534;
const STOP_MS = 5_000;

/** Starts the program on the PATH, or on Debian the one of its package. Without either it skips the test. */
export async function openPgBouncer(context: Mocha.Context, options: PgBouncerOptions): Promise<PgBouncer> {
  const program = await findServer('pgbouncer', 'pgbouncer');
  if (program === null) return context.skip();
  const port = await freePort();
  const directory = scratch(`pgbouncer-${options.mode}`);
  const configuration = configure(directory, port, options);
  // PgBouncer refuses to run as root. In a user namespace it is not root.
  const isRoot = process.getuid?.() === 0;
  const unprivileged = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--', program.file, configuration];
  const bouncer = await launch({
    name: 'pgbouncer',
    command: isRoot ? 'unshare' : program.file,
    args: isRoot ? unprivileged : [configuration],
    env: { PATH: process.env['PATH'], ...program.env },
    log: join(directory, 'pgbouncer.log'),
    background: true,
  });
  await untilAccepting(bouncer, port);
  return {
    through: (url) => Object.assign(new URL(url), { port: String(port) }).href,
    [Symbol.asyncDispose]: async () => void (await bouncer.stop('SIGTERM', STOP_MS)),
  };
}

function configure(directory: string, port: number, { mode, urls, settings = [] }: PgBouncerOptions): string {
  mkdirSync(directory, { recursive: true });
  const users = urls
    .map((url) => new URL(url))
    .map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"`);
  writeFileSync(join(directory, 'users.txt'), `${users.join('\n')}\n`, { mode: 0o600 });
  const { hostname, port: serverPort } = new URL(urls[0] ?? '');
  const file = join(directory, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(directory, 'users.txt')}`,
    `pool_mode = ${mode}`,
    ...settings,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}
