import type { World } from '@wts/testkit';
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Door } from './door.ts';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, '..', 'peers');
const INSTALLED = join(FOLDER, '.installed');
const PACKAGES = {
  '@stratasync/server': '0.5.1',
  '@fastify/websocket': '^11.2.0',
  'drizzle-orm': '^1.0.0-beta.1',
  fastify: '^5.6.0',
  pg: '^8.16.0',
  redis: '^5.8.0',
};
const INSTALL_MS = 180_000;
const START_MS = 30_000;

export interface Peer extends Door, AsyncDisposable {}

/** Strata's server as a process of its own, beside ours on the same PostgreSQL. Installed at the first time. */
export async function openPeer(world: World): Promise<Peer> {
  await install();
  const file = join(INSTALLED, 'strata.mjs');
  await copyFile(join(FOLDER, 'strata.mjs'), file);
  const child = fork(file, {
    cwd: INSTALLED,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      DATABASE_URL: world.database.url,
      USER_ID: world.userId,
      WORKSPACE_ID: world.workspaceId,
    },
  });
  const [{ listening }] = (await once(child, 'message', { signal: AbortSignal.timeout(START_MS) })) as [
    { listening: string },
  ];
  const { userId, workspaceId } = world;
  return {
    name: 'Strata 0.5.1',
    baseUrl: listening,
    apiKey: 'bench',
    userId,
    workspaceId,
    pid: () => child.pid ?? 0,
    log: { table: 'strata.sync_actions', place: 'id' },
    seedTasks: (count) => seed(world, count),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function install(): Promise<void> {
  const isThere = await stat(join(INSTALLED, 'node_modules', '@stratasync', 'server')).catch(() => null);
  if (isThere !== null) return;
  process.stdout.write('installing the peer ...\n');
  await mkdir(INSTALLED, { recursive: true });
  await writeFile(
    join(INSTALLED, 'package.json'),
    JSON.stringify({ name: 'peers', private: true, type: 'module', dependencies: PACKAGES }),
  );
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--legacy-peer-deps'];
  await run('npm', options, { cwd: INSTALLED, timeout: INSTALL_MS });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Straight into its table: through its door ten thousand rows would take a minute. */
async function seed(world: World, count: number): Promise<void> {
  const client = new Client({ connectionString: world.database.url });
  await client.connect();
  try {
    await client.query(
      `insert into strata.tasks (id, workspace_id, number, title, description, priority, start, start_bucket, creator_id, sort_order, created_at, updated_at)
       select gen_random_uuid(), $1, n, 'Write down what the migration needs', repeat('x', 120), 2, 'not_started', 'today', $2, '', now(), now()
       from generate_series(1, $3::int) n`,
      [world.workspaceId, world.userId, count],
    );
    await client.query('analyze strata.tasks');
  } finally {
    await client.end();
  }
}
