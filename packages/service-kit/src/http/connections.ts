import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomRetryAfterSeconds, Fault, LIMITS, meta } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** Refused connections are logged at most this often, so that many of them do not fill the log. */
const LOGGED_EVERY_MS = 10_000;

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
  readonly #log: Pick<Logger, 'warn'> | undefined;
  #open = 0;
  #logSilentUntil = 0;
  #admit: Admission = (_socket, isFull) => !isFull;

  constructor(max: number, log?: Pick<Logger, 'warn'>) {
    this.max = max;
    this.#log = log;
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
    server.maxConnections = this.max + Math.ceil(this.max * LIMITS.connectionsRefusedShare);
    server.on('drop', () => this.#warn());
    server.on('connection', (socket) => {
      this.#open += 1;
      socket.once('close', () => (this.#open -= 1));
      const isFull = this.#open > this.max;
      if (this.#admit(socket, isFull)) return;
      this.#warn(isFull ? undefined : socket.remoteAddress);
      surplus.set(socket, isFull ? ALL_TAKEN : SHARE_TAKEN);
      // It gets less time to send its request than other connections.
      const timer = setTimeout(() => socket.destroy(), SERVICE_LIMITS.connectionRefusalMs);
      socket.once('close', () => clearTimeout(timer));
    });
  }

  /** With an address, only its network has too many connections. */
  #warn(address?: string): void {
    if (performance.now() < this.#logSilentUntil) return;
    this.#logSilentUntil = performance.now() + LOGGED_EVERY_MS;
    const scope = address === undefined ? '' : ' of one network';
    this.#log?.warn({ connectionsMax: this.max, address }, `too many connections${scope}: new ones are refused`);
  }
}

/** The fault for a request or upgrade on a surplus connection; null on all others. */
export function refusalOf(socket: Duplex): Fault | null {
  const message = surplus.get(socket);
  if (message === undefined) return null;
  return new Fault('unavailable', {
    message,
    retryAfterSeconds: randomRetryAfterSeconds(),
  });
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
