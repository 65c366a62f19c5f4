import { STREAM } from '@wts/contracts';
import type { Revocation } from '@wts/contracts';
import type { Wire } from '@wts/testkit';
import { openWire, testDatabase, testNats } from '@wts/testkit';
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Msg } from 'nats';
import { connect } from 'nats';
import { Pool } from 'pg';
import type { LossyWire } from './lossy-wire.ts';
import { openLossyWire } from './lossy-wire.ts';

export const SECRET = 'a secret of thirty-two characters or more';
const START_MS = 20_000;

type Sql = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** What the service under test needs: a migrated database, a NATS server and a sync service, all real. */
export interface Backends extends AsyncDisposable {
  /** Each through a wire that the test can cut. */
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly syncUrl: string;
  readonly wires: { readonly sync: Wire; readonly postgres: Wire; readonly nats: Wire; readonly answers: LossyWire };
  /** Runs SQL with the rights of this service. */
  readonly sql: Sql;
  /** Runs SQL with the rights of the sync service, without the rules of the commit. */
  readonly asSync: Sql;
  /** Receives revocations that are published from now on. */
  readonly revocations: () => Promise<{ next(): Promise<Revocation> }>;
}

export async function openBackends(label: string): Promise<Backends> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await testDatabase(label, { migrated: true }));
  const nats = opening.use(await testNats(label));
  const databaseUrl = database.urlOf('wts_workspace');
  const sqlAs = (connectionString: string): Sql => {
    const pool = opening.adopt(new Pool({ connectionString, max: 2 }), (open) => open.end());
    return async (text, values = []) => (await pool.query<Record<string, unknown>>(text, [...values])).rows;
  };
  const [sql, asSync] = [sqlAs(databaseUrl), sqlAs(database.urlOf('wts_sync'))];
  const subscriber = opening.adopt(await connect({ servers: nats.url }), (open) => open.close());
  const sync = opening.use(await startSync({ DATABASE_URL: database.urlOf('wts_sync'), NATS_URL: nats.url }));
  const answers = opening.use(await openLossyWire(sync.url));
  const wires = {
    answers,
    sync: opening.use(await wireTo(answers.url)),
    postgres: opening.use(await wireTo(databaseUrl)),
    nats: opening.use(await wireTo(nats.url)),
  };
  const owned = opening.move();
  return {
    wires,
    databaseUrl: wires.postgres.through(databaseUrl),
    natsUrl: wires.nats.through(nats.url),
    syncUrl: wires.sync.through(sync.url),
    sql,
    asSync,
    revocations: async () => {
      const messages = subscriber.subscribe(STREAM.revoked)[Symbol.asyncIterator]();
      await subscriber.flush();
      return {
        next: async () => {
          const message = (await messages.next()) as IteratorResult<Msg, undefined>;
          assert.ok(message.done !== true, 'the connection ended');
          return message.value.json<Revocation>();
        },
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function wireTo(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  return openWire({ host: hostname, port: Number(port) });
}

/** Starts sync as a process, because services never import each other. */
async function startSync(settings: Record<string, string>): Promise<AsyncDisposable & { readonly url: string }> {
  const child = fork(join(import.meta.dirname, '../../sync/src/main.ts'), {
    env: {
      PATH: process.env['PATH'],
      LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      INTERNAL_TOKEN_SECRET: SECRET,
      WORKSPACE_SERVICE_URL: 'http://127.0.0.1:1',
      // The process ends when this one ends, also after a crash.
      WTS_SUPERVISED: '1',
      ...settings,
    },
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const signal = AbortSignal.timeout(START_MS);
  const [message] = (await Promise.race([
    once(child, 'message', { signal }),
    ended.then(([code]) => Promise.reject(new Error(`sync ended with ${String(code)}`))),
  ])) as [{ listening: string }];
  return {
    url: message.listening,
    [Symbol.asyncDispose]: async () => {
      // Its state is not needed after the test.
      child.kill('SIGKILL');
      await ended;
    },
  };
}
