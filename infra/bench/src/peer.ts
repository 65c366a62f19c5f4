import { launch, type RunningProcess } from '@wts/local';
import type { TestSystem } from '@wts/testkit';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTask, type Target } from './target.ts';
import { cloneTasks } from './seed.ts';
import { growPeerLog, PEER_KEY } from './peer-log.ts';

const exec = promisify(execFile);
const FOLDER = join(import.meta.dirname, '..', 'peers');
const INSTALLED = join(FOLDER, '.installed');
const COMPLETE = join(INSTALLED, 'complete.json');
const LOG = join(INSTALLED, 'strata.log');
/** Exact versions, so that a measurement can be repeated. */
const PACKAGES = {
  '@stratasync/server': '0.5.1',
  '@fastify/websocket': '11.3.6',
  'drizzle-orm': '1.0.0-rc.5-ab785fc',
  fastify: '5.12.8',
  pg: '8.23.1',
  redis: '5.12.1',
};
const INSTALL_MS = 180_000;
const START_MS = 30_000;
const STOP_MS = 2_000;

export interface Peer extends Target, AsyncDisposable {}

export const PEER_VERSIONS = `Strata ${PACKAGES['@stratasync/server']} (fastify ${PACKAGES.fastify}, drizzle ${PACKAGES['drizzle-orm']}, pg ${PACKAGES.pg})`;

/** Starts Strata's server as a separate process on the same PostgreSQL. Installs it on first use. */
export async function openPeer(testSystem: TestSystem, nodeOptions: string): Promise<Peer> {
  await install();
  const file = join(INSTALLED, 'strata.mjs');
  await copyFile(join(FOLDER, 'strata.mjs'), file);
  await rm(LOG, { force: true });
  const { userId, workspaceId, database } = testSystem;
  const { promise: baseUrl, resolve } = Promise.withResolvers<string>();
  const server = await launch({
    name: 'strata',
    command: process.execPath,
    args: [file],
    cwd: INSTALLED,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      NODE_OPTIONS: nodeOptions,
      DATABASE_URL: database.url,
      USER_ID: userId,
      WORKSPACE_ID: workspaceId,
    },
    log: LOG,
    channel: true,
    onMessage: (message) => resolve((message as { listening: string }).listening),
    background: true,
  });
  const target: Target = {
    name: `Strata ${PACKAGES['@stratasync/server']}`,
    baseUrl: await untilReady(server, baseUrl),
    apiKey: PEER_KEY,
    userId,
    workspaceId,
    processes: () => [{ name: 'strata', pid: server.pid, log: LOG }],
    log: { table: 'strata.sync_actions', positionColumn: 'id' },
    seedTasks: async (count) =>
      cloneTasks(database.url, { table: 'strata.tasks', modelId: await createTask(target), count }),
    growLog: (entries) => growPeerLog(testSystem, entries),
  };
  return { ...target, [Symbol.asyncDispose]: async () => void (await server.stop('SIGTERM', STOP_MS)) };
}

async function untilReady(server: RunningProcess, baseUrl: Promise<string>): Promise<string> {
  const over = new AbortController();
  // This timer keeps our process alive, because a background process does not.
  const late = pause(START_MS, null, { signal: over.signal }).catch(() => null);
  const ready = await Promise.race([baseUrl, late, server.exited.then(() => null)]);
  over.abort();
  if (ready !== null) return ready;
  await server.stop('SIGKILL', STOP_MS);
  throw new Error(`the peer did not start:\n${await readFile(LOG, 'utf8')}`);
}

async function install(): Promise<void> {
  const wanted = JSON.stringify(PACKAGES);
  if ((await readFile(COMPLETE, 'utf8').catch(() => '')) === wanted) return;
  process.stdout.write('Installing the peer\n');
  await rm(INSTALLED, { recursive: true, force: true });
  await mkdir(INSTALLED, { recursive: true });
  await writeFile(
    join(INSTALLED, 'package.json'),
    JSON.stringify({ name: 'peers', private: true, type: 'module', dependencies: PACKAGES }),
  );
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--legacy-peer-deps'];
  await exec('npm', options, { cwd: INSTALLED, timeout: INSTALL_MS });
  await writeFile(COMPLETE, wanted);
}
