/** A NATS server of this repository's own, with JetStream on disk, on loopback, behind the users of infra/nats. */
import { NATS_USERS, natsPasswordVariable } from '@wts/contracts';
import type { NatsUser } from '@wts/contracts';
import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../layout.ts';
import { launch } from '../processes/launch.ts';
import type { RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { freePort } from '../processes/ports.ts';
import { Refusal } from '../refusal.ts';
import { controlServer } from './server-control.ts';
import type { CrashListeners, ServerControl } from './server-control.ts';
import { findNats } from './nats-program.ts';

export interface NatsOptions extends CrashListeners {
  readonly directory: string;
  readonly log: string;
  readonly records: string;
  /** Of wts_admin; those of the other users follow from it. Without one anybody on this machine may do anything: for tests. */
  readonly password?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port?: number | undefined;
  readonly throwaway?: boolean;
}

export interface NatsServer extends ServerControl {
  readonly version: string;
  readonly source: string;
  readonly port: number;
  /** As wts_admin. */
  readonly url: string;
  /** With the permissions of a service, or of a tool. */
  readonly urlOf: (user: NatsUser) => string;
}

const USERS = join(ROOT, 'infra/nats/users.conf');
const READY_MS = 20_000;
const STOP_MS = 10_000;

export async function openNats(options: NatsOptions): Promise<NatsServer> {
  const program = findNats(options.env);
  const port = await freePort(options.port);
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const configuration = join(options.directory, 'nats.conf');
  writeFileSync(configuration, configurationOf(port, options), { mode: 0o600 });
  const launchServer = async () => {
    const server = await launch({
      name: 'nats',
      command: program.file,
      args: ['-c', configuration],
      env: { PATH: options.env['PATH'], ...passwordsOf(options.password) },
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
    const credentials = options.password === undefined ? '' : `wts_${user}:${passwordOf(user, options.password)}@`;
    return `nats://${credentials}127.0.0.1:${port}`;
  };
  return { version: program.version, source: program.source, port, url: urlOf('admin'), urlOf, ...control };
}

function passwordOf(user: NatsUser, password: string): string {
  if (user === 'admin') return password;
  return createHmac('sha256', password).update(`wts nats ${user}`).digest('base64url');
}

/** As the configuration reads them: a text in quotes is one, whatever it looks like. */
function passwordsOf(password: string | undefined): NodeJS.ProcessEnv {
  if (password === undefined) return {};
  return Object.fromEntries(
    NATS_USERS.map((user) => [natsPasswordVariable(user), JSON.stringify(passwordOf(user, password))]),
  );
}

function configurationOf(port: number, options: NatsOptions): string {
  return [
    'server_name: wts_local',
    `listen: "127.0.0.1:${port}"`,
    ...(options.password === undefined
      ? []
      : // A server reads what it includes by the way from its own file.
        [`authorization {\n  include ${JSON.stringify(relative(options.directory, USERS))}\n}`]),
    // The stream is a doorbell with a day's memory; PostgreSQL is the truth.
    `jetstream { store_dir: ${JSON.stringify(join(options.directory, 'jetstream'))}, max_memory_store: 64MB, max_file_store: 2GB }`,
    '',
  ].join('\n');
}

async function untilReady(server: RunningProcess, port: number): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && server.exit === null) {
    const info = await greeting(port);
    if (info?.jetstream === true) return;
    await sleep(15);
  }
  const lines = lastLines(server.log, 8);
  await server.stop('SIGKILL', STOP_MS);
  const advice = /no space left/i.test(lines) ? ' The disk is full: free some space and start again.' : '';
  throw new Refusal(
    `The NATS server did not start.${advice}\n${lines
      .split('\n')
      .map((line) => `    ${line}`)
      .join('\n')}`,
  );
}

/** A server says who it is before anybody logs in. Null when nothing answers. */
function greeting(port: number, host = '127.0.0.1'): Promise<{ version?: string; jetstream?: boolean } | null> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host, timeout: 2_000 });
    let text = '';
    const finish = (info: { version?: string; jetstream?: boolean } | null) => {
      socket.destroy();
      resolve(info);
    };
    socket.on('error', () => finish(null));
    socket.on('timeout', () => finish(null));
    socket.on('close', () => resolve(null));
    socket.on('data', (bytes) => {
      text += bytes.toString('utf8');
      const line = /^INFO (\{.*\})\s/.exec(text)?.[1];
      if (line !== undefined) finish(JSON.parse(line) as { version?: string; jetstream?: boolean });
    });
  });
}
