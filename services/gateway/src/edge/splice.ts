import type { Duplex } from 'node:stream';
import { EDGE_LIMITS } from '../limits.ts';

/**
 * Connects the socket of a client and the socket of a service after the handshake. Bytes are forwarded unchanged and unread, a
 * slow side pauses the other, and the end of one side ends the other.
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
      one.on('end', () => this.#destroyAfter(EDGE_LIMITS.halfOpenMs));
      one.on('error', () => other.destroy());
      one.on('close', () => {
        // A side that ended may close while the other still writes the last bytes; a side that did not end is broken.
        if (!one.readableEnded) other.destroy();
        if (!client.destroyed || !upstream.destroyed) return;
        clearTimeout(this.#halfOpen);
        onClosed();
      });
    }
  }

  /**
   * Ends the socket as if its client had disconnected: the client receives what the service has sent so far, and then the end
   * of the connection. Destroys both sides after `withinMs`.
   */
  end(withinMs: number): void {
    this.#client.unpipe(this.#upstream);
    // Drops what the client still sends, because unread bytes keep the connection open.
    this.#client.resume();
    this.#upstream.end();
    this.#destroyAfter(withinMs);
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #destroyAfter(withinMs: number): void {
    this.#halfOpen ??= setTimeout(() => this.destroy(), withinMs);
  }
}
