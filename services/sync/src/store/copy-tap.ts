import type { Connection } from 'pg';

const COPY_DATA = 'd'.charCodeAt(0);
/** Type and length (PostgreSQL manual, "Message Formats"). */
const HEAD_BYTES = 5;

type Listener = (bytes: Buffer) => void;

export interface CopyReader {
  /** The data of one message, which the reader may overwrite. */
  onData(bytes: Buffer, start: number, end: number): void;
  /** Called when all data received so far has been passed to `onData`. */
  onPause(): void;
}

/**
 * Reads the CopyData messages of a connection in place of pg, and passes all other messages to pg. pg would make two objects of
 * each message; for hundreds of thousands of small records that takes longer than PostgreSQL needs to send them. `pg-copy-streams`
 * replaces the listener of pg in the same way, and splits and copies rows: it needs half as much CPU again for records of 480 bytes.
 */
export class CopyTap {
  readonly #stream: Connection['stream'];
  readonly #pg: Listener;
  readonly #reader: CopyReader;
  /** The beginning of a message whose end is not received yet. */
  #rest: Buffer | null = null;
  #isOff = false;

  constructor({ stream }: Connection, reader: CopyReader) {
    const [pg, ...others] = stream.listeners('data') as Listener[];
    if (pg === undefined || others.length > 0)
      throw new Error('This version of pg reads its connection in another way');
    this.#stream = stream;
    this.#pg = pg;
    this.#reader = reader;
    stream.on('data', this.#onData);
    stream.off('data', pg);
  }

  remove(): void {
    if (this.#isOff) return;
    this.#isOff = true;
    this.#stream.on('data', this.#pg);
    this.#stream.off('data', this.#onData);
  }

  readonly #onData = (bytes: Buffer): void => {
    let at = this.#rest === null ? 0 : this.#complete(this.#rest, bytes);
    while (bytes.length - at >= HEAD_BYTES && !this.#isOff) {
      const end = endOf(bytes, at);
      if (end > bytes.length) break;
      this.#take(bytes, at, end);
      at = end;
    }
    this.#reader.onPause();
    if (at >= bytes.length) return;
    if (this.#isOff) this.#pg(bytes.subarray(at));
    else this.#rest = bytes.subarray(at);
  };

  /** Completes the message that was begun, if its end was received; returns the number of bytes used. */
  #complete(rest: Buffer, bytes: Buffer): number {
    // The message may be cut inside its length.
    const head = rest.length >= HEAD_BYTES ? rest : Buffer.concat([rest, bytes.subarray(0, HEAD_BYTES - rest.length)]);
    const missing = head.length >= HEAD_BYTES ? endOf(head, 0) - rest.length : Infinity;
    if (missing > bytes.length) {
      this.#rest = Buffer.concat([rest, bytes]);
      return bytes.length;
    }
    this.#rest = null;
    const message = Buffer.concat([rest, bytes.subarray(0, missing)]);
    this.#take(message, 0, message.length);
    return missing;
  }

  #take(bytes: Buffer, at: number, end: number): void {
    if (bytes[at] === COPY_DATA) this.#reader.onData(bytes, at + HEAD_BYTES, end);
    else this.#pg(bytes.subarray(at, end));
  }
}

function endOf(bytes: Buffer, at: number): number {
  return at + 1 + bytes.readUInt32BE(at + 1);
}
