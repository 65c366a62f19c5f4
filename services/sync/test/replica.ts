import { Fault, HEADERS, STREAM, type LogStream, type Principal } from '@wts/contracts';
import { LogReader, readEntries, type Entry } from '@wts/log';
import type { BackgroundContext } from '@wts/service-kit/background';
import { createHttpServer, listen } from '@wts/service-kit/http';
import { GroupReader } from '@wts/read-model';
import type { NatsConnection } from 'nats';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { CallerNetworks, Contention, FairGate, LoopTurns } from '@wts/service-kit/fairness';
import { minterFor, readerFor } from '@wts/testkit';
import { Hub } from '../src/hub/hub.ts';
import type { Handover } from '../src/relay/handover.ts';
import { openSocketServer, type SocketServer, type SocketServerOptions } from '../src/socket/server.ts';
import type { LogWriter } from './log-writer.ts';

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export const testContext = (): BackgroundContext => ({
  name: 'sync',
  log: quiet,
  metrics: new Registry(),
  readiness: { addBackground() {} },
});
const mintToken = minterFor('gateway', 'sync');

export interface TestReplica extends AsyncDisposable {
  readonly baseUrl: string;
  readonly hub: Hub;
  readonly socketServer: SocketServer;
  readonly log: LogReader;
}

export interface ReplicaOptions {
  /** By default log 0. */
  readonly of?: LogStream;
  readonly pool: Pool;
  /** The commits of this process; without it, the hub has only the log and the stream. */
  readonly writer?: LogWriter;
  readonly handover?: Handover;
  readonly nc?: () => NatsConnection | null;
  readonly limits?: SocketServerOptions['limits'];
  readonly socketsMax?: number;
  readonly gate?: FairGate;
  readonly ring?: { bytesMax: number; ageMs: number };
  readonly pollMs?: number;
  /** Called for each page read for a socket. */
  readonly onPage?: (entries: readonly Entry[]) => void;
}

/**
 * The principal of a token in these tests: `<user id>`, `<user id> until <seconds>`, `<user id> in <workspace id>`, or
 * `<user id> reading nothing`.
 */
function principalOf(token: string): Principal {
  const [userId = '', word, value = ''] = token.split(' ');
  if (!/^[0-9a-f-]{36}$/.test(userId)) throw new Fault('token_invalid');
  return {
    userId,
    scopes: word === 'reading' ? [] : ['read'],
    credential: { kind: 'jwt', id: token },
    ...(word === 'until' ? { expiresAt: Number(value) } : {}),
    ...(word === 'in' ? { workspaceId: value } : {}),
  };
}

/** Hub and socket server of one replica on a port of their own; the upgrade listener replaces the gateway. */
export async function openTestReplica(options: ReplicaOptions): Promise<TestReplica> {
  const { pool, writer, handover, nc = () => null, of = STREAM, ring, pollMs } = options;
  const log = new LogReader(pool);
  const stopping = new AbortController();
  const hub = new Hub({
    nc,
    of,
    log,
    ...(handover === undefined ? {} : { handover: (offer) => handover.listen(offer) }),
    ...(writer === undefined ? {} : { handover: (offer) => (writer.onCommitted(offer), () => {}) }),
    ...(ring === undefined ? {} : { ring }),
    ...(pollMs === undefined ? {} : { pollMs }),
    signal: stopping.signal,
    logger: quiet,
  });
  const following = hub.run();
  const groups = new GroupReader(pool);
  const gate = new FairGate({ slots: 4, waitMs: 30_000, waitingMax: 20_000, refusal: 'Too much is being read' });
  const socketServer = openSocketServer({
    hub,
    gate: options.gate ?? gate,
    turns: new LoopTurns(new Contention()),
    groups,
    readEntries: async (range) => {
      const page = await readEntries(pool, range);
      options.onPage?.(page.entries);
      return page;
    },
    readHead: () => log.head(),
    authenticate: async (token) => principalOf(token),
    calls: { readToken: readerFor('sync'), networks: new CallerNetworks() },
    socketsMax: options.socketsMax ?? 1_000,
    metrics: new Registry(),
    logger: quiet,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const server = createHttpServer((_req, res) => void res.writeHead(404).end());
  server.on('upgrade', (req, stream, head) => {
    const token = new URL(req.url ?? '', 'http://test').searchParams.get('token');
    if (token !== null && token !== 'none') req.headers[HEADERS.principal] = mintToken(principalOf(token));
    socketServer.upgrade(req, stream, head);
  });
  const port = await listen(server, '127.0.0.1', 0);
  while (!hub.isOpen) await new Promise(setImmediate);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    hub,
    socketServer,
    log,
    async [Symbol.asyncDispose]() {
      await socketServer[Symbol.asyncDispose]();
      stopping.abort();
      await following;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
