import { crc32, createDeflateRaw, constants, type DeflateRaw } from 'node:zlib';
import type { LineSink } from '../store/copy-rows.ts';

/*
 * Builds gzip bodies for many readers whose first lines differ, and compresses the shared rest once. A gzip file (RFC 1952) is
 * a header, a deflate stream (RFC 1951) and a checksum of the whole. The first line is written as stored blocks, the
 * compressed rest follows, and the checksum of the whole is combined from those of the two parts.
 */

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const PIECE_BYTES = 128 * 1024;
const STORED_BYTES_MAX = 0xffff;

/** Checksum and length of the uncompressed rest. */
export interface Content {
  readonly crc: number;
  readonly bytes: number;
}

/** The beginning of a gzip file; deflate blocks follow. */
export function gzipHead(text: Buffer): Buffer {
  const parts: Buffer[] = [HEADER];
  for (let at = 0; at < text.length; at += STORED_BYTES_MAX) {
    const piece = text.subarray(at, at + STORED_BYTES_MAX);
    const block = Buffer.alloc(5);
    block.writeUInt16LE(piece.length, 1);
    block.writeUInt16LE(~piece.length & 0xffff, 3);
    parts.push(block, piece);
  }
  return Buffer.concat(parts);
}

export function gzipTail(head: Buffer, rest: Content): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(combineCrc32(crc32(head), rest.crc, rest.bytes), 0);
  tail.writeUInt32LE((head.length + rest.bytes) % 2 ** 32, 4);
  return tail;
}

/** Compresses at level 1, because most links are fast and higher levels cost more time than they save. */
export class Deflater implements LineSink {
  readonly #to: LineSink;
  readonly #deflate: DeflateRaw;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #out: Buffer[] = [];
  #crc = 0;
  #bytes = 0;

  constructor(to: LineSink) {
    this.#to = to;
    this.#deflate = createDeflateRaw({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 });
    this.#deflate.on('data', (bytes: Buffer) => this.#out.push(bytes));
    // The callbacks of `write` and `end` receive its errors.
    this.#deflate.on('error', () => {});
  }

  get content(): Content {
    return { crc: this.#crc, bytes: this.#bytes };
  }

  /** Gathers small pieces, because each call of zlib switches to another thread. */
  write(bytes: Buffer): Promise<void> | undefined {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    return this.#gatheredBytes < PIECE_BYTES ? undefined : this.#compress();
  }

  async end(): Promise<void> {
    await this.#compress();
    await new Promise<void>((resolve, reject) => {
      this.#deflate.once('error', reject);
      this.#deflate.once('end', resolve);
      this.#deflate.end();
    });
    await this.#pass();
  }

  [Symbol.dispose](): void {
    this.#deflate.destroy();
  }

  async #compress(): Promise<void> {
    const bytes = Buffer.concat(this.#gathered, this.#gatheredBytes);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (bytes.length === 0) return;
    this.#crc = crc32(bytes, this.#crc);
    this.#bytes += bytes.length;
    await new Promise<void>((resolve, reject) => {
      this.#deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await this.#pass();
  }

  async #pass(): Promise<void> {
    const out = this.#out;
    this.#out = [];
    for (const bytes of out) await this.#to.write(bytes);
  }
}

const CRC32_POLYNOMIAL = 0xedb88320;

/**
 * The CRC-32 of two concatenated texts, from that of each: advances the first over as many zero bytes as the second is long,
 * by squaring the matrix that advances over one bit (as zlib's crc32_combine does).
 */
export function combineCrc32(first: number, second: number, secondBytes: number): number {
  let matrix = [CRC32_POLYNOMIAL, ...Array.from({ length: 31 }, (_, bit) => 2 ** bit)];
  // One bit -> two -> four -> one byte.
  matrix = square(square(square(matrix)));
  let crc = first;
  for (let bytes = secondBytes; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) crc = times(matrix, crc);
    matrix = square(matrix);
  }
  return (crc ^ second) >>> 0;
}

function times(matrix: readonly number[], vector: number): number {
  let sum = 0;
  for (let bit = 0, rest = vector; rest !== 0; bit += 1, rest >>>= 1) if (rest & 1) sum ^= matrix[bit] ?? 0;
  return sum >>> 0;
}

function square(matrix: readonly number[]): number[] {
  return matrix.map((column) => times(matrix, column));
}
