import { layoutOf } from '@wts/models';
import type { Selection } from '@wts/read-model';
import type { Connection, Submittable } from 'pg';
import { CopyTap, type CopyReader } from './copy-tap.ts';
import { literal } from './literal.ts';

/** Takes the lines. PostgreSQL is not read until the promise that `write` returns resolves. */
export interface LineSink {
  write(lines: Buffer): Promise<void> | undefined;
}

/** Signature, flags and length of extension (PostgreSQL manual, COPY, "Binary Format"). */
const HEADER_BYTES = 19;
/** Of a row, and before each value. */
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
const BRACE = 0x7b;
const NEWLINE = 0x0a;

/**
 * Copies records out of PostgreSQL as lines `{"__class":"Task",...}`.
 *
 * A record is stored as the JSON text clients read, so nothing is parsed or serialized here: each row comes by COPY in
 * binary format, which needs no unescaping, as its opening and its record, which are joined in the buffer that was received. (Doing
 * that in SQL costs PostgreSQL twice the time.) All models are read by one message; while the sink is full, the socket of
 * PostgreSQL is not read, and so PostgreSQL waits too.
 */
export class CopyRows implements Submittable, CopyReader {
  readonly done: Promise<void>;
  rows = 0;
  /** Read by pg: replaces the bound on statements of the pool. */
  readonly query_timeout: number;
  /** Set by pg, which waits for it to be called. */
  callback: ((error?: Error) => void) | undefined;
  readonly #text: string;
  readonly #sink: LineSink;
  readonly #settle: { resolve: () => void; reject: (error: unknown) => void };
  #connection: Connection | undefined;
  #tap: CopyTap | undefined;
  #atStart = true;
  /** The buffer that was received last; it holds lines from `#from` to `#used`. */
  #bytes: Buffer = EMPTY;
  #from = 0;
  #used = 0;
  #pendingWrites = 0;
  #isComplete = false;
  #isOver = false;

  constructor(selections: readonly Selection[], sink: LineSink, timeoutMs: number) {
    this.#text = selections.map(copySql).join(';');
    this.#sink = sink;
    this.query_timeout = timeoutMs;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#settle = { resolve, reject };
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    this.#tap = new CopyTap(connection, this);
    connection.query(this.#text);
  }

  handleCommandComplete(): void {
    this.#atStart = true;
  }

  handleReadyForQuery(): void {
    this.#flush();
    this.#tap?.remove();
    this.#isComplete = true;
    if (this.#pendingWrites === 0) this.#end();
  }

  handleError(error: Error): void {
    this.#end(error);
  }

  /** The server sends one row per message; the header precedes the first row, the trailer follows the last. */
  onData(bytes: Buffer, start: number, end: number): void {
    let at = start;
    if (this.#atStart) {
      this.#atStart = false;
      at += HEADER_BYTES;
    }
    while (at < end && bytes.readInt16BE(at) === 2) {
      const opening = at + COUNT_BYTES + LENGTH_BYTES;
      const record = opening + bytes.readInt32BE(opening - LENGTH_BYTES) + LENGTH_BYTES;
      at = record + bytes.readInt32BE(record - LENGTH_BYTES);
      this.#join(bytes, opening, record, at);
    }
  }

  onPause(): void {
    this.#flush();
  }

  /** A line is shorter than its row, so it never overwrites what is not read yet. */
  #join(bytes: Buffer, opening: number, record: number, end: number): void {
    if (bytes[record] !== BRACE) return this.#end(new Error('A stored record is no JSON object'));
    if (bytes !== this.#bytes) {
      this.#flush();
      this.#bytes = bytes;
      this.#from = this.#used = opening;
    }
    const middle = this.#used + (record - LENGTH_BYTES - opening);
    bytes.copyWithin(this.#used, opening, record - LENGTH_BYTES);
    bytes.copyWithin(middle, record + 1, end);
    this.#used = middle + (end - record);
    bytes[this.#used - 1] = NEWLINE;
    this.rows += 1;
  }

  #flush(): void {
    if (this.#used === this.#from || this.#isOver) return;
    const lines = this.#bytes.subarray(this.#from, this.#used);
    this.#bytes = EMPTY;
    this.#from = this.#used = 0;
    const taken = this.#sink.write(lines);
    if (taken === undefined) return;
    this.#pendingWrites += 1;
    this.#connection?.stream.pause();
    taken.then(
      () => {
        this.#pendingWrites -= 1;
        if (this.#pendingWrites > 0) return;
        this.#connection?.stream.resume();
        if (this.#isComplete) this.#end();
      },
      (error: unknown) => this.#end(error),
    );
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tap?.remove();
    if (error === undefined) this.#settle.resolve();
    else this.#settle.reject(error);
    this.callback?.();
  }
}

const EMPTY = Buffer.alloc(0);

function copySql({ model, from = layoutOf(model).table, where }: Selection): string {
  const opening = literal(`{"__class":${JSON.stringify(model.name)},`);
  return `copy (select ${opening}::text, record from ${from} where ${where}) to stdout (format binary)`;
}
