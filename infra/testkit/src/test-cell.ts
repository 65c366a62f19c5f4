import { Stack, type NatsServer, type StackOptions, type SupervisedProcess } from '@wts/local';
import { randomBytes } from 'node:crypto';
import { testDatabase, type TestDatabase } from './database.ts';
import { testNats } from './nats.ts';
import { sendRequest, type Reply, type RequestContent } from './request.ts';
import { socketOf, type LiveSocket, type SocketOptions } from './socket.ts';

/** A second cell of a test system: services, a database, a NATS server and a log of its own, with the auth of the first one. */
export interface TestCell {
  readonly shard: number;
  readonly baseUrl: string;
  readonly database: TestDatabase;
  readonly nats: NatsServer;
  readonly stack: Stack;
  readonly service: (name: string, replica?: number) => SupervisedProcess;
  readonly request: (token: string | null, method: string, path: string, content?: RequestContent) => Promise<Reply>;
  readonly socket: (options: SocketOptions) => Promise<LiveSocket>;
}

interface CellOptions {
  readonly label: string;
  readonly first: Stack;
  /** As for the first cell. */
  readonly plan: Omit<StackOptions, 'database' | 'natsUrlOf' | 'route'>;
}

const SHARD = 1;

/** Starts nothing but the stores. */
export async function planCell(opening: AsyncDisposableStack, { label, first, plan }: CellOptions): Promise<TestCell> {
  const database = opening.use(await testDatabase(`${label}-cell`, { migrated: true }));
  const nats = opening.use(await testNats(`${label}-cell-nats`, plan.secrets.natsPassword, SHARD));
  const { overrides = {} } = plan;
  // What the other cell sealed, this one cannot open.
  const sealing = { WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64') };
  const stack = opening.use(
    await Stack.plan({
      ...plan,
      database: { ...database, adminUrl: database.url, authAdminUrl: database.authUrl },
      natsUrlOf: nats.urlOf,
      overrides: { ...overrides, 'webhook-dispatcher': { ...overrides['webhook-dispatcher'], ...sealing } },
      cell: { shard: SHARD, first },
    }),
  );
  const { baseUrl } = stack;
  return {
    shard: SHARD,
    baseUrl,
    database,
    nats,
    stack,
    service: (name, replica) => stack.service(name, replica),
    request: (token, method, path, content) => sendRequest({ baseUrl, token }, method, path, content),
    socket: (options) => socketOf({ baseUrl }, options),
  };
}
