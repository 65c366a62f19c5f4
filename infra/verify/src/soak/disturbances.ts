import { connectTo, type Store, type SupervisedProcess, type TestSystem } from '@wts/testkit';
import { STREAM } from '@wts/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import { connectToBroker } from '../broker.ts';

export interface Disturbance {
  readonly name: string;
  /** True: webhooks whose outcome it loses may be delivered once more. */
  readonly repeatsWebhooks?: boolean;
  readonly run: () => Promise<void>;
}

const READY_MS = 60_000;
const PAUSED_MS = 5_000;
/** Longer than the lease of a lane of webhooks. */
const OUTLIVED_MS = 34_000;
const DOWN_MS = 2_000;
/** Longer than a service takes to detect a frozen connection to NATS. */
const NATS_FROZEN_MS = 15_000;
const HELD_MS = 5_000;
const TERMINATIONS = 3;
const STALLED = 100;
const STALLED_MS = 10_000;

/**
 * One round: every process is killed or paused, the stores are killed and restarted, connections freeze, a transaction stays
 * open, and database sessions are terminated.
 */
export function disturbancesOf(testSystem: TestSystem): Disturbance[] {
  const syncs = testSystem.services.filter(({ name }) => name.startsWith('sync'));
  const dispatchers = testSystem.services.filter(({ name }) => name.startsWith('webhook-dispatcher'));
  const gateway = testSystem.service('gateway');
  return [
    ...syncs.map(kill),
    { name: 'SIGKILL NATS', run: () => killAndRestart(testSystem.nats) },
    ...syncs.slice(0, 2).map((service) => suspend(service, PAUSED_MS)),
    suspend(gateway, DOWN_MS),
    kill(gateway),
    kill(testSystem.service('workspace')),
    kill(testSystem.service('auth')),
    ...dispatchers.map(kill).map(repeating),
    repeating({ name: 'SIGKILL PostgreSQL', run: () => killAndRestart(testSystem.postgres) }),
    ...dispatchers.map((service, index) => repeating(suspend(service, index === 0 ? OUTLIVED_MS : PAUSED_MS))),
    ...syncs.map(restart),
    ...dispatchers.map(restart).map(repeating),
    { name: 'a database transaction stays open', run: () => holdOpen(testSystem) },
    repeating({
      name: 'all database sessions are terminated, several times',
      run: () => terminateSessions(testSystem),
    }),
    { name: `${STALLED} sockets that never read`, run: () => openStalledSockets(testSystem) },
    { name: 'the stream is deleted', run: () => deleteStream(testSystem) },
    freeze(testSystem, ['sync', 0], 'nats', NATS_FROZEN_MS),
    freeze(testSystem, ['sync', syncs.length - 1], 'postgres', HELD_MS),
    repeating(freeze(testSystem, ['webhook-dispatcher', 0], 'postgres', HELD_MS)),
  ];
}

function repeating(disturbance: Disturbance): Disturbance {
  return { ...disturbance, repeatsWebhooks: true };
}

function restart(service: SupervisedProcess): Disturbance {
  return { name: `rolling restart of ${service.name}`, run: () => service.restart(READY_MS) };
}

function kill(service: SupervisedProcess): Disturbance {
  return {
    name: `SIGKILL ${service.name}`,
    run: async () => {
      await service.kill('SIGKILL');
      await pause(DOWN_MS / 4);
      await service.start();
      await service.untilReady(READY_MS);
    },
  };
}

function suspend(service: SupervisedProcess, ms: number): Disturbance {
  return {
    name: `SIGSTOP ${service.name}`,
    run: async () => {
      service.pause();
      await pause(ms);
      service.resume();
    },
  };
}

async function killAndRestart(server: { kill: () => Promise<void>; start: () => Promise<void> }): Promise<void> {
  await server.kill();
  await pause(DOWN_MS);
  await server.start();
}

/** The connections stay open and pass nothing. */
function freeze(
  testSystem: TestSystem,
  [service, replica]: readonly [name: string, replica: number],
  store: Store,
  ms: number,
): Disturbance {
  return {
    name: `the connection of ${service} ${replica + 1} to ${store} freezes`,
    run: async () => {
      const wire = testSystem.wire(service, store, replica);
      wire.freeze();
      await pause(ms);
      wire.mend();
    },
  };
}

/** The transaction has an id, so everything that waits for older transactions waits for it. */
async function holdOpen(testSystem: TestSystem): Promise<void> {
  await using client = await connectTo(testSystem.database.url);
  await client.query('begin; create table held_open (n int); select pg_current_xact_id()');
  await pause(HELD_MS);
  await client.query('rollback');
}

async function terminateSessions(testSystem: TestSystem): Promise<void> {
  await using client = await connectTo(testSystem.database.url);
  for (let round = 0; round < TERMINATIONS; round += 1) {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename like 'wts_%'`,
    );
    await pause(DOWN_MS / 2);
  }
}

/** They request the whole log and read nothing: the server's buffers for them are bounded, and other clients do not wait. */
async function openStalledSockets(testSystem: TestSystem): Promise<void> {
  using readers = new DisposableStack();
  const opening = Array.from({ length: STALLED }, async () => {
    const reader = readers.adopt(await testSystem.socket({ after: '1' }), (socket) => socket.cut());
    reader.pause();
  });
  await Promise.all(opening);
  await pause(STALLED_MS);
}

async function deleteStream(testSystem: TestSystem): Promise<void> {
  await using broker = await connectToBroker(testSystem.nats.url);
  await (await broker.jetstreamManager()).streams.delete(STREAM.name);
}
