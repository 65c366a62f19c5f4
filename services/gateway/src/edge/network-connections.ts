import type { Socket } from 'node:net';

interface Options {
  /** Connections of one network without a credential. */
  readonly ofNetworkMax: number;
  /** Refused connections of one network that get an answer; further ones are closed without one. */
  readonly refusedOfNetworkMax: number;
  /** A connection without a request for so long may be closed for a new one. */
  readonly idleMs: number;
  /** The network of an address; null for a configured proxy, which forwards requests of many. */
  readonly networkOf: (address: string | undefined) => string | null;
  readonly now?: () => number;
}

interface TrackedConnection {
  readonly socket: Socket;
  readonly network: Network;
  /** The time of its last request, or of its start. */
  activeAt: number;
}

interface Network {
  /** Connections without a credential, in the order of their last request. */
  readonly idle: Set<TrackedConnection>;
  connections: number;
  refused: number;
}

/**
 * Limits connections per network before authentication. A connection counts for its network until a request on it has a
 * credential, and again when that request is answered; in between it counts for its person (`Shares`). One network may
 * hold a fixed share of all connections. Beyond it, and when all connections are in use, the connection that was idle for
 * longest is closed, also one that is still sending its first headers. So idle connections take places only from their own
 * network. Keeps limits.connections.network.
 */
export class NetworkConnections {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #networks = new Map<string, Network>();
  readonly #tracked = new WeakMap<Socket, TrackedConnection>();
  /** The idle connections of all networks, in the same order. */
  readonly #idle = new Set<TrackedConnection>();

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get networks(): number {
    return this.#networks.size;
  }

  /** False when the connection is to be refused. `isFull`: the process has reached its limit. */
  admit(socket: Socket, isFull: boolean): boolean {
    const name = this.#options.networkOf(socket.remoteAddress);
    if (name === null) return !isFull || this.#close(this.#idle);
    const network = this.#networks.getOrInsertComputed(name, newNetwork);
    network.connections += 1;
    socket.once('close', () => {
      network.connections -= 1;
      if (network.connections === 0) this.#networks.delete(name);
    });
    const isRoom =
      (network.idle.size < this.#options.ofNetworkMax || this.#close(network.idle)) &&
      (!isFull || this.#close(this.#idle));
    if (!isRoom) return this.#refuse(socket, network);
    const tracked = { socket, network, activeAt: 0 };
    this.#tracked.set(socket, tracked);
    this.#count(tracked);
    socket.once('close', () => this.#uncount(tracked));
    return true;
  }

  /** Called when a request starts, and when a request with a credential is answered. */
  markActive(socket: Socket | null): void {
    const tracked = socket === null ? undefined : this.#tracked.get(socket);
    if (tracked === undefined || tracked.socket.destroyed) return;
    const { idle } = tracked.network;
    const isBack = !idle.has(tracked);
    if (isBack && idle.size >= this.#options.ofNetworkMax && !this.#close(idle)) {
      // More connections of this network had authenticated requests in parallel than may be idle.
      tracked.socket.end();
    }
    this.#uncount(tracked);
    this.#count(tracked);
  }

  /** Called when a request on the connection has a credential. */
  authenticated(socket: Socket): void {
    const tracked = this.#tracked.get(socket);
    if (tracked !== undefined) this.#uncount(tracked);
  }

  #count(tracked: TrackedConnection): void {
    tracked.activeAt = this.#now();
    tracked.network.idle.add(tracked);
    this.#idle.add(tracked);
  }

  #uncount(tracked: TrackedConnection): void {
    tracked.network.idle.delete(tracked);
    this.#idle.delete(tracked);
  }

  /** Closes the connection that was idle for longest; false when none was idle long enough. */
  #close(idle: ReadonlySet<TrackedConnection>): boolean {
    const [first] = idle;
    if (first === undefined || this.#now() - first.activeAt < this.#options.idleMs) return false;
    this.#uncount(first);
    first.socket.destroy();
    return true;
  }

  #refuse(socket: Socket, network: Network): boolean {
    network.refused += 1;
    socket.once('close', () => (network.refused -= 1));
    if (network.refused > this.#options.refusedOfNetworkMax) socket.destroy();
    return false;
  }
}

function newNetwork(): Network {
  return { idle: new Set(), connections: 0, refused: 0 };
}
