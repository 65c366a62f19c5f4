import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '@wts/contracts';

/** What all spools of the process hold together. */
export class SpoolRoom {
  memoryBytes = 0;
  diskBytes = 0;

  get isShortOfMemory(): boolean {
    return this.memoryBytes > LIMITS.spoolsMemoryBytesMax;
  }

  /** Half full: what is being written must still find room. */
  get isShortOfDisk(): boolean {
    return this.diskBytes > LIMITS.spoolsDiskBytesMax / 2;
  }
}

const READ_BYTES = 128 * 1024;
/** Kept in memory behind the end when the process is short of it. */
const WINDOW_BYTES_MIN = 64 * 1024;

interface Piece {
  readonly at: number;
  readonly bytes: Buffer;
}

/**
 * An answer between its one writer and its readers. The writer never waits for a reader, so PostgreSQL is done with a
 * snapshot as fast as it can be, however slow the slowest client is; each reader goes from the beginning at its own pace.
 *
 * A small answer stays in memory. A larger one goes to a file that has no name, so that nothing of it is left behind
 * however the process ends; its last piece stays in memory, where readers who keep up find it.
 */
export class Spool {
  readonly #room: SpoolRoom;
  #pieces: Piece[] = [];
  #bytes = 0;
  #writtenBytes = 0;
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  #diskFailure: Error | undefined;
  #isFailureTold = false;
  #state: 'open' | 'finished' | 'failed' | 'disposed' = 'open';
  #failure: Error | undefined;
  #grown: PromiseWithResolvers<void> | undefined;

  constructor(room: SpoolRoom) {
    this.#room = room;
  }

  /** A promise holds the writer back: the disk is slower than it. */
  write(bytes: Buffer): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    this.#pieces.push({ at: this.#bytes, bytes });
    this.#bytes += bytes.length;
    this.#room.memoryBytes += bytes.length;
    this.#wake();
    const spills = this.#file !== undefined || this.#bytes > LIMITS.spoolMemoryBytes || this.#room.isShortOfMemory;
    if (!spills) return undefined;
    if (this.#diskFailure !== undefined) return this.#tellFailure();
    this.#writing ??= this.#writeOut();
    return this.#bytes - this.#writtenBytes > LIMITS.spoolMemoryBytes ? this.#whenWritten(this.#writing) : undefined;
  }

  finish(): void {
    if (this.#state === 'open') this.#state = 'finished';
    this.#wake();
  }

  /** Readers get what there is, then this failure. */
  fail(failure: Error): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#failure = failure;
    this.#wake();
  }

  /** The bytes at this offset, as many as are at hand; null at the end. A promise when they must be waited for. */
  read(at: number): Buffer | null | Promise<Buffer | null> {
    if (at < this.#bytes) return this.#find(at) ?? this.#readFile(at);
    if (this.#state === 'finished') return null;
    if (this.#state !== 'open') return Promise.reject(this.#failure ?? new Error('The spool is gone'));
    this.#grown ??= Promise.withResolvers<void>();
    return this.#grown.promise.then(() => this.read(at));
  }

  /** After the last reader: gives back memory and disk. */
  async dispose(): Promise<void> {
    if (this.#state === 'disposed') return;
    this.#state = 'disposed';
    this.#wake();
    for (const { bytes } of this.#pieces) this.#room.memoryBytes -= bytes.length;
    this.#pieces = [];
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
    this.#room.diskBytes -= this.#writtenBytes;
    this.#writtenBytes = 0;
  }

  #wake(): void {
    this.#grown?.resolve();
    this.#grown = undefined;
  }

  #find(at: number): Buffer | undefined {
    const piece = this.#pieces.findLast((one) => one.at <= at);
    return piece?.bytes.subarray(at - piece.at);
  }

  async #readFile(at: number): Promise<Buffer> {
    const length = Math.min(READ_BYTES, this.#writtenBytes - at);
    const { bytesRead, buffer } = await this.#theFile.read(Buffer.allocUnsafeSlow(length), 0, length, at);
    if (bytesRead === 0) throw new Error('The file of the spool ends too soon');
    return buffer.subarray(0, bytesRead);
  }

  /** Never rejects: what is not in the file stays in memory for the readers, and the next write fails. */
  async #writeOut(): Promise<void> {
    try {
      this.#file ??= await openNameless();
      while (this.#writtenBytes < this.#bytes && this.#state !== 'disposed') {
        const buffers = this.#pieces.filter(({ at }) => at >= this.#writtenBytes).map(({ bytes }) => bytes);
        if (this.#room.diskBytes > LIMITS.spoolsDiskBytesMax) throw new SpoolFull();
        const bytes = await writeAll(this.#file, buffers, this.#writtenBytes);
        this.#room.diskBytes += bytes;
        this.#writtenBytes += bytes;
        this.#forget();
      }
    } catch (error) {
      this.#diskFailure =
        error instanceof SpoolFull ? error : new Error('A spool could not be written', { cause: error });
    }
    this.#writing = undefined;
  }

  async #whenWritten(writing: Promise<void>): Promise<void> {
    await writing;
    if (this.#diskFailure !== undefined) await this.#tellFailure();
  }

  /** Once: the last words of a writer that was told stay in memory. */
  #tellFailure(): Promise<void> | undefined {
    if (this.#isFailureTold) return undefined;
    this.#isFailureTold = true;
    return Promise.reject(this.#diskFailure ?? new SpoolFull());
  }

  /** Lets go of what stands in the file, but for the last piece of it. */
  #forget(): void {
    const window = this.#room.isShortOfMemory ? WINDOW_BYTES_MIN : LIMITS.spoolMemoryBytes;
    const from = Math.min(this.#writtenBytes, this.#bytes - window);
    let count = 0;
    for (const { at, bytes } of this.#pieces) {
      if (at + bytes.length > from) break;
      this.#room.memoryBytes -= bytes.length;
      count += 1;
    }
    if (this.#state !== 'disposed') this.#pieces.splice(0, count);
  }

  get #theFile(): FileHandle {
    if (this.#file === undefined) throw new Error('The spool has no file');
    return this.#file;
  }
}

export class SpoolFull extends Error {
  constructor() {
    super(`Snapshots may take ${LIMITS.spoolsDiskBytesMax} bytes of disk`);
    this.name = 'SpoolFull';
  }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `wts-snapshot-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

async function writeAll(file: FileHandle, buffers: readonly Buffer[], position: number): Promise<number> {
  const bytes = buffers.reduce((sum, { length }) => sum + length, 0);
  let { bytesWritten: done } = await file.writev([...buffers], position);
  // A disk that is nearly full takes a part, and says why when the rest is tried.
  const rest = done < bytes ? Buffer.concat(buffers).subarray(done) : EMPTY;
  for (let at = 0; at < rest.length; at = done - (bytes - rest.length)) {
    done += (await file.write(rest, at, rest.length - at, position + done)).bytesWritten;
  }
  return bytes;
}

const EMPTY = Buffer.alloc(0);
