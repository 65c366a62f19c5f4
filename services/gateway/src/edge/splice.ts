import type { Duplex } from 'node:stream';
import { EDGE_LIMITS } from '../limits.ts';

/**
 * A client's socket and the service's socket, joined after the handshake: bytes pass as they are and are never looked into,
 * a slow side holds the other, and the end of one half ends the other half.
 */
export class Splice {
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  #halfOpen: NodeJS.Timeout | undefined;

  /** `onClosed` is called once, when both sockets are closed. */
  constructor(client: Duplex, upstream: Duplex, onClosed: () => void) {
    this.#client = client;
    this.#upstream = upstream;
    client.pipe(upstream);
    upstream.pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('end', () => this.#cutAfter(EDGE_LIMITS.halfOpenMs));
      one.on('error', () => other.destroy());
      one.on('close', () => {
        // After its end a side may close while the other still writes what it received; without one the connection broke.
        if (!one.readableEnded) other.destroy();
        if (!client.destroyed || !upstream.destroyed) return;
        clearTimeout(this.#halfOpen);
        onClosed();
      });
    }
  }

  /**
   * Ends the socket as if its client had left: the client receives what the service has sent so far, and then the end of
   * the connection. Cuts both sides when that takes longer than allowed.
   */
  end(withinMs: number): void {
    this.#client.unpipe(this.#upstream);
    // What the client still sends is dropped; unread, it would keep the connection from closing.
    this.#client.resume();
    this.#upstream.end();
    this.#cutAfter(withinMs);
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #cutAfter(withinMs: number): void {
    this.#halfOpen ??= setTimeout(() => this.destroy(), withinMs);
  }
}
