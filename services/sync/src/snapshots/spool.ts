import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FairQuota, type NetworkOf } from '@wts/service-kit/fairness';
import { SYNC_LIMITS } from '../limits.ts';

interface SpoolBudgetOptions {
  readonly answers?: number;
  readonly memoryBytes?: number;
  readonly diskBytes?: number;
  readonly networkOf?: NetworkOf;
}

/** Bounds what all answers of the process hold, by person. Keeps never.unbounded. */
export class SpoolBudget {
  readonly answers: FairQuota;
  readonly memory: FairQuota;
  /** A quarter is reserved for spools that are being written. */
  readonly disk: FairQuota;

  constructor(options: SpoolBudgetOptions = {}) {
    const { answers = SYNC_LIMITS.snapshotAnswersMax, memoryBytes = SYNC_LIMITS.spoolsMemoryBytesMax } = options;
    const { diskBytes = SYNC_LIMITS.spoolsDiskBytesMax } = options;
    this.answers = new FairQuota(answers, options);
    this.memory = new FairQuota(memoryBytes, options);
    this.disk = new FairQuota(diskBytes, { ...options, reserved: diskBytes / 4 });
  }

  /** Counts a new answer of this person; undefined when they have too many, or use too much of the disk. */
  admit(person: string): Disposable | undefined {
    return this.disk.admits(person, 0) ? this.answers.hold(person, 1) : undefined;
  }

  /** How long a client may receive nothing before its connection is closed. */
  stalledMs(person: string): number {
    return this.disk.stalledMs(person);
  }
}

const READ_BYTES = 128 * 1024;
/** Bytes per write, because each write switches to another thread. */
const WRITE_BYTES = 512 * 1024;
/** The last bytes of a file are kept in memory too, for readers that keep up. */
const WINDOW_BYTES = 1024 * 1024;
const WINDOW_BYTES_MIN = 64 * 1024;

interface Piece {
  readonly at: number;
  readonly bytes: Buffer;
}

/** The offset of a reader. */
export interface SpoolReader {
  at: number;
}

/**
 * Buffers an answer between its one writer and its readers. The writer never waits for a reader, so PostgreSQL finishes a
 * snapshot as fast as it can, however slow the clients are; each reader reads from the beginning at its own pace.
 *
 * A small answer stays in memory. When a large one has a single reader that keeps up, the bytes it has read are released, and
 * no further reader can join. Otherwise it is written to an unlinked file, which disappears however the process ends.
 */
export class Spool {
  readonly #budget: SpoolBudget;
  /** The person whom its bytes count for. */
  #person: string;
  readonly #readers = new Set<SpoolReader>();
  #pieces: Piece[] = [];
  #bytes = 0;
  #memoryBytes = 0;
  #isWhole = true;
  #state: 'open' | 'finished' | 'failed' | 'disposed' = 'open';
  #failure: Error | undefined;
  #grown: PromiseWithResolvers<void> | undefined;
  #file: FileHandle | undefined;
  /** All bytes below this offset that are not in memory are in the file. */
  #writtenTo = 0;
  #diskBytes = 0;
  #writing: Promise<void> | undefined;
  #diskFailure: Error | undefined;
  #isFailureReported = false;

  constructor(budget: SpoolBudget, person: string) {
    this.#budget = budget;
    this.#person = person;
  }

  get person(): string {
    return this.#person;
  }

  /** Counts its bytes for another person from now on. */
  passTo(person: string): void {
    this.#budget.memory.move(this.#person, person, this.#memoryBytes);
    this.#budget.disk.move(this.#person, person, this.#diskBytes);
    this.#person = person;
  }

  /** False once its beginning was released. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  join(): SpoolReader {
    if (!this.#isWhole) throw new Error('The beginning of the spool was released');
    const reader = { at: 0 };
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: SpoolReader): void {
    this.#readers.delete(reader);
  }

  /** Returns a promise when the writer must wait for the disk. */
  write(bytes: Buffer): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    this.#pieces.push({ at: this.#bytes, bytes });
    this.#bytes += bytes.length;
    this.#count(bytes.length);
    this.#wake();
    if (this.#isWithinBounds) return undefined;
    if (this.#file === undefined && this.#writing === undefined && this.#readers.size < 2) this.#isWhole = false;
    this.#release();
    return this.#isWithinBounds ? undefined : this.#spill();
  }

  finish(): void {
    if (this.#state === 'open') this.#state = 'finished';
    this.#wake();
  }

  /** Readers get the bytes written so far, then this failure. */
  fail(failure: Error): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#failure = failure;
    this.#wake();
  }

  /** The reader's next bytes; null at the end. A promise when they are not in memory yet. */
  read(reader: SpoolReader): Buffer | null | Promise<Buffer | null> {
    if (reader.at < this.#bytes) {
      const piece = this.#pieces.findLast(({ at }) => at <= reader.at);
      if (piece === undefined) return this.#readFile(reader);
      const bytes = piece.bytes.subarray(reader.at - piece.at);
      reader.at += bytes.length;
      return bytes;
    }
    if (this.#state === 'finished') return null;
    if (this.#state !== 'open') return Promise.reject(this.#failure ?? new Error('The spool was disposed of'));
    this.#grown ??= Promise.withResolvers<void>();
    return this.#grown.promise.then(() => this.read(reader));
  }

  /** Gives back memory and disk. Called after the last reader left. */
  async dispose(): Promise<void> {
    if (this.#state === 'disposed') return;
    this.#state = 'disposed';
    this.#wake();
    await this.#writing;
    this.#count(-this.#memoryBytes);
    this.#pieces = [];
    await this.#file?.close();
    this.#budget.disk.add(this.#person, -this.#diskBytes);
    this.#diskBytes = 0;
  }

  #wake(): void {
    this.#grown?.resolve();
    this.#grown = undefined;
  }

  #count(bytes: number): void {
    this.#memoryBytes += bytes;
    this.#budget.memory.add(this.#person, bytes);
  }

  get #isShortOfMemory(): boolean {
    return this.#budget.memory.isTight(this.#person);
  }

  get #isWithinBounds(): boolean {
    const bound = this.#file === undefined ? SYNC_LIMITS.spoolMemoryBytes : WINDOW_BYTES;
    return this.#memoryBytes <= (this.#isShortOfMemory ? WINDOW_BYTES_MIN : bound);
  }

  /** Releases the bytes that are in the file, except for its end, and those all readers have, when no reader can join. */
  #release(): void {
    const window = this.#isShortOfMemory ? WINDOW_BYTES_MIN : WINDOW_BYTES;
    let below = Math.min(this.#writtenTo, this.#bytes - window);
    if (!this.#isWhole) for (const { at } of this.#readers) below = Math.max(below, at);
    let count = 0;
    for (const { at, bytes } of this.#pieces) {
      if (at + bytes.length > below) break;
      this.#count(-bytes.length);
      count += 1;
    }
    if (count > 0) this.#pieces.splice(0, count);
    this.#writtenTo = Math.max(this.#writtenTo, this.#pieces[0]?.at ?? this.#bytes);
  }

  #spill(): Promise<void> | undefined {
    if (this.#diskFailure !== undefined) return this.#reportFailure();
    if (this.#bytes - this.#writtenTo >= WRITE_BYTES) this.#writing ??= this.#writeOut();
    if (this.#writing === undefined || this.#bytes - this.#writtenTo < SYNC_LIMITS.spoolMemoryBytes) return undefined;
    return this.#writing.then(() => (this.#diskFailure === undefined ? undefined : this.#reportFailure()));
  }

  /** Rejects once. The error line that the writer adds then stays in memory. */
  #reportFailure(): Promise<void> | undefined {
    if (this.#isFailureReported) return undefined;
    this.#isFailureReported = true;
    return Promise.reject(this.#diskFailure ?? new SpoolFull());
  }

  /** Never rejects: after a failure the bytes stay in memory for the readers, and the next write fails. */
  async #writeOut(): Promise<void> {
    try {
      this.#file ??= await openUnlinked();
      while (this.#bytes - this.#writtenTo >= WRITE_BYTES && this.#state !== 'disposed') {
        if (this.#budget.disk.isFull(this.#person)) throw new SpoolFull();
        const from = this.#writtenTo;
        const buffers = this.#pieces.filter(({ at }) => at >= from).map(({ bytes }) => bytes);
        const written = await writeAll(this.#file, buffers, from);
        this.#diskBytes += written;
        this.#budget.disk.add(this.#person, written);
        this.#writtenTo = Math.max(this.#writtenTo, from + written);
        this.#release();
      }
    } catch (error) {
      this.#diskFailure =
        error instanceof SpoolFull ? error : new Error('A spool could not be written', { cause: error });
    }
    this.#writing = undefined;
  }

  async #readFile(reader: SpoolReader): Promise<Buffer> {
    if (this.#file === undefined) throw new Error('The spool has no file');
    const end = this.#pieces[0]?.at ?? this.#writtenTo;
    const length = Math.min(READ_BYTES, end - reader.at);
    const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafeSlow(length), 0, length, reader.at);
    if (bytesRead === 0) throw new Error('The file of the spool ends too soon');
    reader.at += bytesRead;
    return buffer.subarray(0, bytesRead);
  }
}

export class SpoolFull extends Error {
  constructor() {
    super(`Snapshots may take ${SYNC_LIMITS.spoolsDiskBytesMax} bytes of disk`);
    this.name = 'SpoolFull';
  }
}

async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `wts-snapshot-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

async function writeAll(file: FileHandle, buffers: readonly Buffer[], position: number): Promise<number> {
  const bytes = buffers.reduce((sum, { length }) => sum + length, 0);
  let { bytesWritten: done } = await file.writev([...buffers], position);
  // A nearly full disk may write a part; writing the rest then fails with the reason.
  const rest = done < bytes ? Buffer.concat(buffers).subarray(done) : EMPTY;
  for (let at = 0; at < rest.length; at = done - (bytes - rest.length))
    done += (await file.write(rest, at, rest.length - at, position + done)).bytesWritten;
  return bytes;
}

const EMPTY = Buffer.alloc(0);
