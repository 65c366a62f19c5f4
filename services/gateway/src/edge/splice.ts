import type { Duplex } from 'node:stream';
import type { Principal } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import { FrameBoundary, closeFrame } from './frame-boundary.ts';

/**
 * A client's socket and the service's socket, joined after the handshake: bytes pass as they are, a slow side holds the
 * other, the end of one half ends the other half.
 *
 * When the gateway itself must end it (it stops, or the credential died), it does not cut. It lets the service say
 * goodbye: at the end of the client's current frame it says a close frame upstream in the client's place, the service
 * answers with the same code behind everything it has already sent, and the client gets a whole stream and a code.
 */
export class Splice {
  readonly principal: Principal;
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  readonly #boundary = new FrameBoundary();
  #closeCode = 0;
  #isSilenced = false;
  #halfOpen: NodeJS.Timeout | undefined;

  /** `onClosed` is called once, when both sockets are gone. */
  constructor(client: Duplex, upstream: Duplex, principal: Principal, onClosed: () => void) {
    this.principal = principal;
    this.#client = client;
    this.#upstream = upstream;

    client.on('data', (chunk: Buffer) => this.#fromClient(chunk));
    upstream.on('drain', () => client.resume());
    client.on('end', () => {
      upstream.end();
      this.#expectEnd();
    });
    upstream.pipe(client);
    upstream.on('end', () => this.#expectEnd());

    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        // After its end a side may close while the other still writes what it got; without one it broke off.
        if (!one.readableEnded) other.destroy();
        if (!client.destroyed || !upstream.destroyed) return;
        clearTimeout(this.#halfOpen);
        onClosed();
      });
    }
  }

  /** Asks for a close with this code, and cuts when that takes longer than allowed. Asking again changes nothing. */
  close(code: number, withinMs: number): void {
    if (this.#closeCode !== 0) return;
    this.#closeCode = code;
    if (this.#boundary.reached) this.#sayClose();
    const cut = setTimeout(() => this.destroy(), withinMs);
    this.#client.once('close', () => clearTimeout(cut));
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  /** Bytes that arrived behind the handshake, before this splice existed. */
  receive(head: Buffer): void {
    if (head.length > 0) this.#fromClient(head);
  }

  #fromClient(chunk: Buffer): void {
    if (this.#isSilenced) return;
    const completeBytes = this.#boundary.feed(chunk);
    if (this.#closeCode !== 0 && completeBytes > 0) {
      this.#upstream.write(chunk.subarray(0, completeBytes));
      this.#sayClose();
      return;
    }
    if (!this.#upstream.write(chunk)) this.#client.pause();
  }

  #sayClose(): void {
    this.#isSilenced = true;
    this.#upstream.write(closeFrame(this.#closeCode));
    this.#client.resume();
  }

  #expectEnd(): void {
    this.#halfOpen ??= setTimeout(() => this.destroy(), EDGE_LIMITS.halfOpenMs);
  }
}
