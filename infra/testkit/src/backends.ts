/** What a service under test uses, for the black-box tests of one service. */
import { STREAM, type Revocation, type ServiceName } from '@wts/contracts';
import { freePort, type DatabaseRole } from '@wts/local';
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Msg } from 'nats';
import { Pool } from 'pg';
import { NODE_OPTIONS, programOf } from './built-services.ts';
import { testDatabase } from './database.ts';
import { nodeEnvironment, tokenEnvironment } from './environment.ts';
import { testNats } from './nats.ts';
import { openWire, type Wire } from './wire.ts';

const START_MS = 60_000;
const NOWHERE = 'http://127.0.0.1:1';

type Sql = (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export interface BackendsOptions {
  readonly label: string;
  /** The database role of the service under test. */
  readonly role: DatabaseRole;
  /** True: the auth service runs too. */
  readonly withAuth?: boolean;
  /** SHARD of its sync service. */
  readonly shard?: number;
}

/** What a service under test needs: a migrated database, a NATS server and a sync service, all real. */
export interface Backends extends AsyncDisposable {
  /** Without a wire, which each statement would pass; `wires.postgres.through` it for a replica that loses its database. */
  readonly databaseUrl: string;
  /** Each of these through a wire that the test can cut. */
  readonly natsUrl: string;
  readonly syncUrl: string;
  /** Only with `withAuth`; otherwise nothing listens there. */
  readonly authUrl: string;
  readonly wires: {
    readonly sync: Wire;
    readonly postgres: Wire;
    readonly nats: Wire;
    readonly auth: Wire | null;
  };
  /** Runs SQL with the rights of the service under test. */
  readonly sql: Sql;
  /** Runs SQL with the rights of another service, without its rules. */
  readonly sqlAs: (role: DatabaseRole) => Sql;
  /** Receives revocations that are published from now on. */
  readonly revocations: () => Promise<{ next(): Promise<Revocation> }>;
}

export async function openBackends({ label, role, withAuth = false, shard = 0 }: BackendsOptions): Promise<Backends> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await testDatabase(label, { migrated: true }));
  const nats = opening.use(await testNats(label));
  const databaseUrl = database.urlOf(role);
  const pools = new Map<DatabaseRole, Pool>();
  opening.defer(async () => {
    for (const pool of pools.values()) await pool.end();
  });
  const sqlAs = (user: DatabaseRole): Sql => {
    const pool = pools.get(user) ?? new Pool({ connectionString: database.urlOf(user), max: 2 });
    pools.set(user, pool);
    return async (text, values = []) => (await pool.query<Record<string, unknown>>(text, [...values])).rows;
  };
  const subscriber = opening.adopt(await connect({ servers: nats.url }), (open) => open.close());
  const port = await freePort();
  const [sync, auth] = await Promise.all([
    startBeside(opening, 'sync', {
      SHARD: String(shard),
      NATS_URL: nats.url,
      PORT: String(port),
      DATABASE_URL: database.urlOf('wts_sync'),
      AUTH_SERVICE_URL: NOWHERE,
    }),
    withAuth
      ? startBeside(opening, 'auth', {
          NATS_URL: nats.url,
          DATABASE_URL: database.urlOf('wts_auth'),
          SYNC_SERVICE_URL: `http://127.0.0.1:${port}`,
          AUTH_SECRET_KEY: randomBytes(32).toString('base64'),
          WORKSPACE_SERVICE_URL: NOWHERE,
        })
      : null,
  ]);
  const wires = {
    sync: opening.use(await wireTo(sync)),
    postgres: opening.use(await wireTo(databaseUrl)),
    nats: opening.use(await wireTo(nats.url)),
    auth: auth === null ? null : opening.use(await wireTo(auth)),
  };
  const owned = opening.move();
  return {
    wires,
    databaseUrl,
    natsUrl: wires.nats.through(nats.url),
    syncUrl: new URL(wires.sync.through(sync)).origin,
    authUrl: auth === null || wires.auth === null ? NOWHERE : new URL(wires.auth.through(auth)).origin,
    sql: sqlAs(role),
    sqlAs,
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

/** Starts a service as a process, because services never import each other. Resolves to its address. */
async function startBeside(
  opening: AsyncDisposableStack,
  service: ServiceName,
  settings: Record<string, string>,
): Promise<string> {
  const child = fork(await programOf(service), {
    env: {
      ...nodeEnvironment(),
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      // The process ends when this one ends, also after a crash.
      WTS_SUPERVISED: '1',
      ...tokenEnvironment(service),
      ...settings,
    },
    execArgv: NODE_OPTIONS,
  });
  const ended = once(child, 'exit');
  opening.defer(async () => {
    // Its state is not needed after the test.
    child.kill('SIGKILL');
    await ended;
  });
  const signal = AbortSignal.timeout(START_MS);
  const [message] = (await Promise.race([
    once(child, 'message', { signal }),
    ended.then(([code]) => Promise.reject(new Error(`${service} ended with ${String(code)}`))),
  ])) as [{ listening: string }];
  return message.listening;
}
