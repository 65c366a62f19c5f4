import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { comeAgainSeconds, Fault, LIMITS, meta } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';

/** How often it is said that connections are turned away: a flood of them must not become a flood of lines. */
const SAID_EVERY_MS = 10_000;

/** Connections beyond a bound: their first request is answered with why. */
const surplus = new WeakMap<Duplex, string>();
const ALL_TAKEN = 'All connections of this server are in use; try again shortly';
const SHARE_TAKEN =
  'Your network uses its whole share of the connections of this server; close some, or try again shortly';

/** Whether a new connection is taken; `isFull` when there are as many as the process can hold. */
export type Admission = (socket: Socket, isFull: boolean) => boolean;

/**
 * How many connections a process takes, over all its ports. One more is taken all the same, for as long as it takes to
 * answer its first request with 503 and a time to come again: whoever is merely dropped cannot tell a full server from a
 * broken one. Only so many are answered at a time; any more are dropped before they cost a handshake.
 *
 * Sockets get less than all, so that requests and probes still come in when no more sockets do.
 */
export class Connections {
  readonly max: number;
  readonly #log: Pick<Logger, 'warn'> | undefined;
  #open = 0;
  #silentUntil = 0;
  #admit: Admission = (_socket, isFull) => !isFull;

  constructor(max: number, log?: Pick<Logger, 'warn'>) {
    this.max = max;
    this.#log = log;
  }

  get open(): number {
    return this.#open;
  }

  get socketsMax(): number {
    return Math.floor(this.max * LIMITS.socketsShare);
  }

  /** Lets a door decide whom it takes. Only the gateway has strangers; all others are called by services. */
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
      // One who says nothing is not waited for as long as others are.
      const timer = setTimeout(() => socket.destroy(), LIMITS.connectionRefusalMs);
      socket.once('close', () => clearTimeout(timer));
    });
  }

  /** With an address, it is only its network that has too many. */
  #warn(address?: string): void {
    if (performance.now() < this.#silentUntil) return;
    this.#silentUntil = performance.now() + SAID_EVERY_MS;
    const who = address === undefined ? 'new ones' : 'new ones of this network, which has its share of them,';
    this.#log?.warn({ connectionsMax: this.max, address }, `too many connections: ${who} are turned away`);
  }
}

/** What a request or upgrade on a surplus connection is answered with; null on all others. */
export function refusalOf(socket: Duplex): Fault | null {
  const message = surplus.get(socket);
  if (message === undefined) return null;
  return new Fault('unavailable', {
    message,
    retryAfterSeconds: comeAgainSeconds(),
  });
}

/** Passes on what comes by connections within the bound. A probe learns also of a full server that it is alive. */
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
