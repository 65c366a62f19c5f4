import { EgressFailure, undiciConnector } from '@wts/service-kit/egress';
import type { Connect, ConnectProgress, Target } from '@wts/service-kit/egress';
import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { leaveOutInterimAnswers } from './interim-answers.ts';
import type { AttemptMetrics } from './metrics.ts';

/** One TLS connection, for one attempt at a time. */
export interface Connection {
  readonly client: Client;
  readonly origin: string;
  readonly openedMs: number;
  /** Makes it; null from then on, because it is made once. */
  start: Start | null;
  /** Null until it is made. */
  socket: TLSSocket | null;
}

export interface Connections {
  /** An idle connection to the origin; null when there is none. */
  take(origin: string): Connection | null;
  /** A new connection, which is made when a request is given to it. */
  open(target: Target, progress: ConnectProgress): Connection;
  /** Gives a connection back for later attempts. */
  release(connection: Connection): void;
  discard(connection: Connection): void;
  close(): void;
}

const IDLE_MS = 30_000;
const IDLE_PER_ORIGIN_MAX = 16;
const IDLE_MAX = 1_024;
/** Then the name is resolved again, whose addresses may have changed. */
const AGE_MS_MAX = 300_000;
const HEADER_BYTES_MAX = 16_384;

/**
 * The connections of all attempts, kept alive between them. Each is an undici client with one connection in its whole life:
 * an attempt that runs out of time ends its own connection and no other one's, and a connection that ended is never made
 * again without the address guard.
 */
export function openConnections(
  connect: Connect,
  metrics: Pick<AttemptMetrics, 'connectionsOpen'>,
  idleMax = IDLE_MAX,
): Connections {
  const all = new Set<Connection>();
  const idle = new IdleConnections(idleMax);

  const discard = (connection: Connection): void => {
    if (!all.delete(connection)) return;
    metrics.connectionsOpen(all.size);
    idle.remove(connection);
    // Reaches a request that was given to the connection as it ended; any other one has its result.
    connection.client.destroy(new EgressFailure('connection_reset', 'the connection ended')).catch(() => undefined);
  };

  return {
    take(origin) {
      for (let found = idle.take(origin); found !== null; found = idle.take(origin)) {
        if (found.socket?.destroyed === false) return found;
        discard(found);
      }
      return null;
    },
    open(target, progress) {
      const connection = makeConnection(target.origin, starter(connect, target, progress));
      all.add(connection);
      metrics.connectionsOpen(all.size);
      connection.client.on('disconnect', () => discard(connection));
      return connection;
    },
    release(connection) {
      if (!all.has(connection)) return;
      if (performance.now() - connection.openedMs > AGE_MS_MAX) return discard(connection);
      const surplus = idle.add(connection);
      if (surplus !== null) discard(surplus);
    },
    discard,
    close: () => all.forEach(discard),
  };
}

type Start = () => Promise<TLSSocket>;

/** A function of its own, so that no other closure holds on to the attempt that made the connection, and its body. */
function starter(connect: Connect, target: Target, progress: ConnectProgress): Start {
  return () => connect(target, progress);
}

function makeConnection(origin: string, start: Start): Connection {
  const client = new Client(origin, {
    connect: undiciConnector(async () => {
      const { start: begin } = connection;
      connection.start = null;
      if (begin === null) throw new EgressFailure('connection_reset', 'the connection ended');
      return (connection.socket = leaveOutInterimAnswers(await begin()));
    }),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The deadline of the attempt holds instead: these two do not see an answer that comes byte by byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const connection: Connection = { client, origin, openedMs: performance.now(), start, socket: null };
  return connection;
}

/** Bounded for each origin and in all; the newest of an origin is used first, the oldest of all is closed first. */
class IdleConnections {
  /** Origins in the order of their last use. */
  readonly #byOrigin = new Map<string, Connection[]>();
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(origin: string): Connection | null {
    const connection = this.#byOrigin.get(origin)?.at(-1) ?? null;
    if (connection !== null) this.remove(connection);
    return connection;
  }

  /** Returns a connection that is one too many. */
  add(connection: Connection): Connection | null {
    const { origin } = connection;
    const others = this.#byOrigin.get(origin) ?? [];
    this.#byOrigin.delete(origin);
    this.#byOrigin.set(origin, [...others, connection]);
    this.#count += 1;
    if (others.length >= IDLE_PER_ORIGIN_MAX) return others[0] ?? null;
    if (this.#count <= this.#max) return null;
    const [oldest] = this.#byOrigin.values();
    return oldest?.[0] ?? null;
  }

  remove(connection: Connection): void {
    const ofOrigin = this.#byOrigin.get(connection.origin) ?? [];
    const rest = ofOrigin.filter((other) => other !== connection);
    this.#count -= ofOrigin.length - rest.length;
    if (rest.length === 0) this.#byOrigin.delete(connection.origin);
    else this.#byOrigin.set(connection.origin, rest);
  }
}
