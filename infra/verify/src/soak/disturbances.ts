import { STREAM } from '@wts/contracts';
import type { Store, SupervisedProcess, TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { connectToBroker } from '../broker.ts';

export interface Disturbance {
  readonly name: string;
  readonly happen: () => Promise<void>;
}

const READY_MS = 60_000;
const ASLEEP_MS = 5_000;
const AWAY_MS = 2_000;
/** Longer than a silent connection to NATS goes unnoticed. */
const CUT_OFF_MS = 15_000;
const HELD_MS = 5_000;
const CUTS = 3;
const STALLED = 100;
const STALLED_MS = 10_000;

/**
 * One turn: every process is killed, those that can sleep sleep and wake as zombies, stores go away and come back, and
 * what lies between them fails. A transaction is held open beside, and sessions of the database die in the middle.
 */
export function disturbancesOf(testSystem: TestSystem): Disturbance[] {
  const syncs = testSystem.services.filter(({ name }) => name.startsWith('sync'));
  const [gateway, workspace] = [testSystem.service('gateway'), testSystem.service('workspace')];
  return [
    ...syncs.map(kill),
    { name: 'SIGKILL NATS', happen: () => comeBack(testSystem.nats) },
    ...syncs.slice(0, 2).map((service) => sleep(service, ASLEEP_MS)),
    sleep(gateway, AWAY_MS),
    kill(gateway),
    kill(workspace),
    { name: 'SIGKILL PostgreSQL', happen: () => comeBack(testSystem.postgres) },
    ...syncs.map((service) => ({
      name: `rolling restart of ${service.name}`,
      happen: () => service.restart(READY_MS),
    })),
    { name: 'a transaction held open beside', happen: () => holdOpen(testSystem) },
    { name: 'all sessions of the database cut, again and again', happen: () => cutSessions(testSystem) },
    { name: `${STALLED} readers who never read`, happen: () => stall(testSystem) },
    { name: 'the stream deleted', happen: () => deleteStream(testSystem) },
    silence(testSystem, 0, 'nats', CUT_OFF_MS),
    silence(testSystem, syncs.length - 1, 'postgres', HELD_MS),
  ];
}

function kill(service: SupervisedProcess): Disturbance {
  return {
    name: `SIGKILL ${service.name}`,
    happen: async () => {
      await service.kill('SIGKILL');
      await pause(AWAY_MS / 4);
      await service.start();
      await service.untilReady(READY_MS);
    },
  };
}

function sleep(service: SupervisedProcess, ms: number): Disturbance {
  return {
    name: `SIGSTOP ${service.name}`,
    happen: async () => {
      service.pause();
      await pause(ms);
      service.resume();
    },
  };
}

async function comeBack(server: { kill: () => Promise<void>; start: () => Promise<void> }): Promise<void> {
  await server.kill();
  await pause(AWAY_MS);
  await server.start();
}

/** Connections stay open and nothing passes. */
function silence(testSystem: TestSystem, replica: number, store: Store, ms: number): Disturbance {
  return {
    name: `sync ${replica + 1} expects nothing of ${store}`,
    happen: async () => {
      const wire = testSystem.wire('sync', store, replica);
      wire.freeze();
      await pause(ms);
      wire.mend();
    },
  };
}

/** It has written, so whoever waits for older transactions waits for it. */
async function holdOpen(testSystem: TestSystem): Promise<void> {
  await withDatabase(testSystem, async (client) => {
    await client.query('begin; create table held_open (n int); select pg_current_xact_id()');
    await pause(HELD_MS);
    await client.query('rollback');
  });
}

async function cutSessions(testSystem: TestSystem): Promise<void> {
  await withDatabase(testSystem, async (client) => {
    for (let cut = 0; cut < CUTS; cut += 1) {
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename like 'wts_%'`,
      );
      await pause(AWAY_MS / 2);
    }
  });
}

/** They ask for the whole log and take nothing of it: what is kept for them is bounded, and the others do not feel it. */
async function stall(testSystem: TestSystem): Promise<void> {
  using readers = new DisposableStack();
  const opening = Array.from({ length: STALLED }, async () => {
    const reader = readers.adopt(await testSystem.socket({ after: '1' }), (socket) => socket.cut());
    reader.pause();
  });
  await Promise.all(opening);
  await pause(STALLED_MS);
}

async function deleteStream(testSystem: TestSystem): Promise<void> {
  const broker = await connectToBroker(testSystem.nats.url);
  try {
    await (await broker.jetstreamManager()).streams.delete(STREAM.name);
  } finally {
    await broker.close();
  }
}

async function withDatabase(testSystem: TestSystem, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: testSystem.database.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
