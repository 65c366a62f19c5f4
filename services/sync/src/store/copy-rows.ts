import type { Model } from '@wts/models';
import type { Connection, Submittable } from 'pg';
import { layoutOf } from './tables.ts';

/** Which records of a model. */
export interface Selection {
  readonly model: Model;
  /** SQL over the model's table. */
  readonly where: string;
}

/** Where lines go. A promise holds PostgreSQL back until it is kept. */
export interface LineSink {
  write(lines: Buffer): Promise<void> | undefined;
}

const CHUNK_BYTES_MIN = 8 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Signature, flags and length of extension (PostgreSQL manual, COPY, "Binary Format"). */
const HEADER_BYTES = 19;
const NEWLINE = 0x0a;

/**
 * Copies records out of PostgreSQL as lines `{"__class":"Task",...}`.
 *
 * A record is stored as the JSON text clients read, so nothing is parsed or serialized here: the text comes by COPY in
 * binary format, which needs no unescaping, and only its brace is replaced by the brace with the class. (Doing that in
 * SQL costs PostgreSQL twice the time.) All models go in one message; while the sink is full, the socket of PostgreSQL is
 * not read, and so PostgreSQL waits too.
 */
export class CopyRows implements Submittable {
  readonly done: Promise<void>;
  rows = 0;
  /** Read by pg: replaces the bound on statements of the pool. */
  readonly query_timeout: number;
  /** Set by pg, which waits for it to be called. */
  callback: ((error?: Error) => void) | undefined;
  readonly #text: string;
  readonly #openings: readonly Buffer[];
  readonly #sink: LineSink;
  readonly #settle: { resolve: () => void; reject: (error: unknown) => void };
  #connection: Connection | undefined;
  #statement = 0;
  #atStart = true;
  #chunk = Buffer.allocUnsafe(CHUNK_BYTES_MIN);
  #used = 0;
  #held = 0;
  #isComplete = false;
  #isOver = false;

  constructor(selections: readonly Selection[], sink: LineSink, timeoutMs: number) {
    this.#text = selections
      .map(
        ({ model, where }) =>
          `copy (select record from ${layoutOf(model).table} where ${where}) to stdout (format binary)`,
      )
      .join(';');
    this.#openings = selections.map(({ model }) => Buffer.from(`{"__class":${JSON.stringify(model.name)},`));
    this.#sink = sink;
    this.query_timeout = timeoutMs;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#settle = { resolve, reject };
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.#text);
  }

  /** The server sends one record per message; the header comes with the first, the trailer in one of its own. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    let at = 0;
    if (this.#atStart) {
      this.#atStart = false;
      at = HEADER_BYTES;
    }
    while (at < chunk.length && chunk.readInt16BE(at) === 1) {
      const start = at + 6;
      at = start + chunk.readInt32BE(at + 2);
      this.#pack(chunk, start, at);
    }
  }

  handleCommandComplete(): void {
    this.#statement += 1;
    this.#atStart = true;
  }

  handleReadyForQuery(): void {
    this.#flush();
    this.#isComplete = true;
    if (this.#held === 0) this.#end();
  }

  handleError(error: Error): void {
    this.#end(error);
  }

  #pack(source: Buffer, start: number, end: number): void {
    const opening = this.#openings[this.#statement];
    if (opening === undefined || source[start] !== 0x7b)
      return this.#end(new Error('A stored record is no JSON object'));
    const bytes = opening.length + (end - start);
    if (this.#used + bytes > this.#chunk.length) {
      this.#flush();
      this.#chunk = Buffer.allocUnsafe(Math.max(bytes, CHUNK_BYTES));
    }
    const chunk = this.#chunk;
    opening.copy(chunk, this.#used);
    source.copy(chunk, this.#used + opening.length, start + 1, end);
    this.#used += bytes;
    chunk[this.#used - 1] = NEWLINE;
    this.rows += 1;
  }

  #flush(): void {
    if (this.#used === 0 || this.#isOver) return;
    const lines = this.#chunk.subarray(0, this.#used);
    this.#used = 0;
    // The sink keeps the bytes: what follows goes elsewhere.
    this.#chunk = EMPTY;
    const taken = this.#sink.write(lines);
    if (taken === undefined) return;
    this.#held += 1;
    this.#connection?.stream.pause();
    taken.then(
      () => {
        this.#held -= 1;
        if (this.#held > 0) return;
        this.#connection?.stream.resume();
        if (this.#isComplete) this.#end();
      },
      (error: unknown) => this.#end(error),
    );
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error === undefined) this.#settle.resolve();
    else this.#settle.reject(error);
    this.callback?.();
  }
}

const EMPTY = Buffer.alloc(0);
