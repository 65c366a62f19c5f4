import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomRetryAfterSeconds, Fault, LIMITS, meta } from '@wts/contracts';
import { seldomWarning, type Logger } from '@wts/log/logger';
import { SERVICE_LIMITS } from '../limits.ts';

/** Connections over a bound, with the message that their first request gets. */
const surplus = new WeakMap<Duplex, string>();
const ALL_TAKEN = 'All connections of this server are in use; try again shortly';
const SHARE_TAKEN =
  'Your network uses its whole share of the connections of this server; close some, or try again shortly';

/** Whether a new connection is accepted; `isFull` when the process has as many as it can hold. */
export type Admission = (socket: Socket, isFull: boolean) => boolean;

/**
 * Bounds the connections of a process, over all its ports. A connection over the bound is accepted until its first request got
 * 503 with Retry-After, because a client cannot distinguish a dropped connection from a broken server. The number of these is
 * bounded too; more are closed on accept.
 *
 * WebSockets get a share of all connections, so that requests and probes are still served when there are too many sockets.
 */
export class Connections {
  readonly max: number;
  readonly #warnOfFull: (fields: object) => void;
  readonly #warnOfShare: (fields: object) => void;
  #open = 0;
  #admit: Admission = (_socket, isFull) => !isFull;

  constructor(max: number, log?: Logger) {
    this.max = max;
    const warning = (scope: string): ((fields: object) => void) =>
      log === undefined ? () => {} : seldomWarning(log, `too many connections${scope}: new ones are refused`);
    this.#warnOfFull = warning('');
    this.#warnOfShare = warning(' of one network');
  }

  get open(): number {
    return this.#open;
  }

  get socketsMax(): number {
    return Math.floor(this.max * SERVICE_LIMITS.socketsShare);
  }

  /** Sets the rule for new connections. Only the gateway has one; the other servers are called by services. */
  setAdmission(admit: Admission): void {
    this.#admit = admit;
  }

  /** Counts the connections of this server among those of the process. */
  hold(server: Server): void {
    const { max } = this;
    server.maxConnections = max + Math.ceil(max * LIMITS.connectionsRefusedShare);
    server.on('drop', () => this.#warnOfFull({ connectionsMax: max }));
    server.on('connection', (socket) => {
      this.#open += 1;
      socket.once('close', () => (this.#open -= 1));
      const isFull = this.#open > max;
      if (this.#admit(socket, isFull)) return;
      if (isFull) this.#warnOfFull({ connectionsMax: max });
      else this.#warnOfShare({ connectionsMax: max, address: socket.remoteAddress });
      surplus.set(socket, isFull ? ALL_TAKEN : SHARE_TAKEN);
      // It gets less time to send its request than other connections.
      const timer = setTimeout(() => socket.destroy(), SERVICE_LIMITS.connectionRefusalMs);
      socket.once('close', () => clearTimeout(timer));
    });
  }
}

/** The fault for a request or upgrade on a surplus connection; null on all others. */
export function refusalOf(socket: Duplex): Fault | null {
  const message = surplus.get(socket);
  if (message === undefined) return null;
  return new Fault('unavailable', { message, retryAfterSeconds: randomRetryAfterSeconds() });
}

/** Passes on the requests of connections within the bound, and health checks of all, because a full server is alive. */
export function unlessSurplus(
  listener: RequestListener,
  refuse: (fault: Fault, ...rest: Parameters<RequestListener>) => void,
): RequestListener {
  return (req, res) => {
    const fault = refusalOf(req.socket);
    if (fault === null || req.url === meta.health.path) listener(req, res);
    else refuse(fault, req, res);
  };
}
