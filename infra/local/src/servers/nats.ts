/** Runs a NATS server on loopback with JetStream on disk and the users of infra/nats. */
import { NATS_USERS, natsPasswordVariable, natsUsersConfiguration, streamOf, type NatsUser } from '@wts/contracts';
import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { freePort } from '../processes/ports.ts';
import { UserError, indented } from '../user-error.ts';
import { controlServer, type CrashHandlers, type ServerControl } from './server-control.ts';
import { findNats } from './nats-program.ts';

export interface NatsOptions extends CrashHandlers {
  readonly directory: string;
  readonly log: string;
  readonly records: string;
  /** The password of wts_admin, from which the others are derived. Without it the server needs no login, which is for tests. */
  readonly password?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port?: number | undefined;
  readonly throwaway?: boolean;
  /** The log whose stream and subjects its users may use. */
  readonly shard?: number;
  /** One of several servers: its number, and the ports on which they connect to each other. */
  readonly cluster?: { readonly index: number; readonly ports: readonly number[] };
}

export interface NatsServer extends ServerControl {
  readonly version: string;
  readonly source: string;
  readonly port: number;
  /** The URL of wts_admin. */
  readonly url: string;
  /** The URL of the user of a service or a tool. */
  readonly urlOf: (user: NatsUser) => string;
}

const USERS_FILE = 'users.conf';
const READY_MS = 20_000;
const STOP_MS = 10_000;

export async function openNats(options: NatsOptions): Promise<NatsServer> {
  const program = findNats(options.env);
  const port = await freePort(options.port);
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const configuration = join(options.directory, 'nats.conf');
  writeFileSync(configuration, configurationOf(port, options), { mode: 0o600 });
  writeFileSync(join(options.directory, USERS_FILE), natsUsersConfiguration(streamOf(options.shard ?? 0)));
  const launchServer = async () => {
    const server = await launch({
      name: 'nats',
      command: program.file,
      args: ['-c', configuration],
      env: { PATH: options.env['PATH'], ...natsPasswordsOf(options.password) },
      log: options.log,
      records: options.records,
      background: true,
    });
    await untilReady(server, port);
    return server;
  };
  const control = await controlServer({ ...options, name: 'NATS', launch: launchServer }, () => {
    if (options.throwaway) rmSync(options.directory, { recursive: true, force: true });
  });
  const urlOf = (user: NatsUser): string => {
    const credentials = options.password === undefined ? '' : `wts_${user}:${natsPasswordOf(user, options.password)}@`;
    return `nats://${credentials}127.0.0.1:${port}`;
  };
  return { version: program.version, source: program.source, port, url: urlOf('admin'), urlOf, ...control };
}

export function natsPasswordOf(user: NatsUser, password: string): string {
  if (user === 'admin') return password;
  return createHmac('sha256', password).update(`wts nats ${user}`).digest('base64url');
}

/** Environment variables for the configuration. Quotes make the server read each value as text. */
export function natsPasswordsOf(password: string | undefined): NodeJS.ProcessEnv {
  if (password === undefined) return {};
  return Object.fromEntries(
    NATS_USERS.map((user) => [natsPasswordVariable(user), JSON.stringify(natsPasswordOf(user, password))]),
  );
}

function configurationOf(port: number, options: NatsOptions): string {
  return [
    `server_name: wts_local${options.cluster?.index ?? ''}`,
    ...clusterConfiguration(options.cluster),
    `listen: "127.0.0.1:${port}"`,
    ...(options.password === undefined
      ? []
      : // nats-server resolves includes relative to its configuration file.
        [`authorization {\n  include ${JSON.stringify(USERS_FILE)}\n}`]),
    // The stream keeps one day; the whole log is in PostgreSQL.
    `jetstream { store_dir: ${JSON.stringify(join(options.directory, 'jetstream'))}, max_memory_store: 64MB, max_file_store: 2GB }`,
    '',
  ].join('\n');
}

function clusterConfiguration(cluster: NatsOptions['cluster']): string[] {
  if (cluster === undefined) return [];
  const routes = cluster.ports.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  return [`cluster { name: wts, listen: "127.0.0.1:${cluster.ports[cluster.index]}", routes: [${routes}] }`];
}

async function untilReady(server: RunningProcess, port: number): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && server.exit === null) {
    const info = await readInfo(port);
    if (info?.jetstream === true) return;
    await sleep(15);
  }
  const lines = lastLines(server.log, 8, server.logStart);
  await server.stop('SIGKILL', STOP_MS);
  const advice = /no space left/i.test(lines) ? ' The disk is full. Free some space and start again.' : '';
  throw new UserError(`The NATS server did not start.${advice}\n${indented(lines)}`);
}

/** Reads the INFO line, which a NATS server sends before the login. Null when there is no server. */
async function readInfo(port: number): Promise<{ readonly jetstream?: boolean } | null> {
  const socket = createConnection({ port, host: '127.0.0.1', timeout: 2_000 });
  socket.on('timeout', () => socket.destroy());
  let text = '';
  try {
    for await (const part of socket.setEncoding('utf8') as AsyncIterable<string>) {
      text += part;
      const line = /^INFO (\{.*\})\s/.exec(text)?.[1];
      if (line !== undefined) return JSON.parse(line) as { jetstream?: boolean };
    }
  } catch {
    // Nothing listens yet.
  }
  return null;
}
