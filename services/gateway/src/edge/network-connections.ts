import type { Socket } from 'node:net';

interface Options {
  /** Connections of one network, as far as no credential speaks for them. */
  readonly ofNetworkMax: number;
  /** Refused ones of one network that are answered at a time; any more are cut. */
  readonly refusedOfNetworkMax: number;
  /** One that has asked for nothing for so long may be closed where another needs its place. */
  readonly idleMs: number;
  /** Who counts as one; null for a proxy of ours, which brings everybody's requests. */
  readonly networkOf: (address: string | undefined) => string | null;
  readonly now?: () => number;
}

interface Held {
  readonly socket: Socket;
  readonly network: Network;
  /** Of its last request, or its beginning. */
  activeAt: number;
}

interface Network {
  readonly name: string;
  /** Connections without a credential, in the order of their last request. */
  readonly idle: Set<Held>;
  connections: number;
  refused: number;
}

/**
 * Shares connections out by network, before anybody is known. A connection counts for its network until a request on it
 * has a credential, and again when that request is answered; meanwhile it counts for its person (`Shares`). One network
 * holds a share of all connections and no more; beyond it, and when all are taken, the connection that has asked for
 * nothing for longest gives way, be it kept alive or still sending its first headers. So thousands that wait for nothing
 * cost their sender their own places. Keeps limits.connections.network.
 */
export class NetworkConnections {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #networks = new Map<string, Network>();
  readonly #held = new WeakMap<Socket, Held>();
  /** All of `idle`, in the same order. */
  readonly #idle = new Set<Held>();

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get networks(): number {
    return this.#networks.size;
  }

  /** False for a connection that is to be refused. `isFull` says that the process has all it can hold. */
  admit(socket: Socket, isFull: boolean): boolean {
    const name = this.#options.networkOf(socket.remoteAddress);
    if (name === null) return !isFull || this.#close(this.#idle);
    const network = this.#networkOf(name);
    network.connections += 1;
    socket.once('close', () => {
      network.connections -= 1;
      if (network.connections === 0) this.#networks.delete(name);
    });
    const isRoom =
      (network.idle.size < this.#options.ofNetworkMax || this.#close(network.idle)) &&
      (!isFull || this.#close(this.#idle));
    if (!isRoom) return this.#refuse(socket, network);
    const held = { socket, network, activeAt: 0 };
    this.#held.set(socket, held);
    this.#count(held);
    socket.once('close', () => this.#uncount(held));
    return true;
  }

  /** A request came, or the answer to one with a credential is out. */
  touch(socket: Socket | null): void {
    const held = socket === null ? undefined : this.#held.get(socket);
    if (held === undefined || held.socket.destroyed) return;
    const { idle } = held.network;
    const isBack = !idle.has(held);
    if (isBack && idle.size >= this.#options.ofNetworkMax && !this.#close(idle)) {
      // There were too many of this network at work at a time for all of them to stay.
      held.socket.end();
    }
    this.#uncount(held);
    this.#count(held);
  }

  /** The request on it has a credential. */
  vouch(socket: Socket): void {
    const held = this.#held.get(socket);
    if (held !== undefined) this.#uncount(held);
  }

  #count(held: Held): void {
    held.activeAt = this.#now();
    held.network.idle.add(held);
    this.#idle.add(held);
  }

  #uncount(held: Held): void {
    held.network.idle.delete(held);
    this.#idle.delete(held);
  }

  /** Closes the one that has been idle for longest; false when none has been for long. */
  #close(idle: ReadonlySet<Held>): boolean {
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

  #networkOf(name: string): Network {
    let network = this.#networks.get(name);
    if (network === undefined) {
      network = { name, idle: new Set(), connections: 0, refused: 0 };
      this.#networks.set(name, network);
    }
    return network;
  }
}
