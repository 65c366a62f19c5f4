import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { CliFault } from '../fault.ts';

const BUFFER_CHARS = 1024 * 1024;
const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export interface WrittenFile {
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes lines to a new file in large steps, with their hash. */
export class LineWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #pending = '';
  #records = 0;
  #bytes = 0;

  static async open(path: string): Promise<LineWriter> {
    return new LineWriter(path, await onDisk(path, () => open(path, 'w')));
  }

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  async write(line: string): Promise<void> {
    this.#pending += line + '\n';
    this.#records += 1;
    if (this.#pending.length >= BUFFER_CHARS) await this.#flush();
  }

  /** A file that is kept is on the disk afterwards, also when the machine stops. */
  async close({ isKept }: { readonly isKept: boolean }): Promise<WrittenFile> {
    try {
      await this.#flush();
      if (isKept) await onDisk(this.#path, () => this.#handle.sync());
    } finally {
      await this.#handle.close();
    }
    return { records: this.#records, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Without its rest where the work failed before the end of the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    await onDisk(this.#path, () => this.#handle.writeFile(bytes));
  }
}

export interface Line {
  readonly text: string;
  /** Where the next line begins, in bytes. */
  readonly end: number;
}

/** The lines of a file from an offset on, in parts as they are read. A last line without its end is not one. */
export async function* readLines(path: string, start = 0): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let at = start;
  for await (const chunk of createReadStream(path, { start })) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    const lines: Line[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      at += end + 1 - from;
      lines.push({ text: bytes.toString('utf8', from, end), end: at });
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (lines.length > 0) yield lines;
  }
}

/** An error of the disk as a sentence. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (NO_SPACE.has(code))
      throw new CliFault('failed', `The disk is full: ${path} could not be written.`, {
        hint: 'Free some space and run the same command again.',
        cause,
      });
    throw new CliFault('failed', `${path} cannot be used: ${(cause as Error).message}.`, { cause });
  }
}
