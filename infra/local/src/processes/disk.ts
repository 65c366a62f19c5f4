import { statfsSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';
import { UserError } from '../user-error.ts';

const MB = 1024 * 1024;
/** PostgreSQL takes space for its log in files of 16 MB, and a normal stop writes too. */
const RUN_BYTES_MIN = 32 * MB;
const START_BYTES_MIN = 96 * MB;
const WATCH_MS = 500;

/** Refuses a start that would stop at once, because the disk of the directory is full. */
export function refuseFullDisk(directory: string): void {
  const free = freeBytes(directory);
  if (free < START_BYTES_MIN) throw fullDisk(directory, free, 'Nothing was started.');
}

/**
 * Watches the disks of directories, and calls `onFull` once when one is full. PostgreSQL and NATS do not end by themselves on a
 * full disk: they refuse changes, crash and crash again.
 */
export class DiskWatch implements Disposable {
  readonly #directories: string[] = [];
  readonly #onFull: (error: UserError) => void;
  readonly #timer: NodeJS.Timeout;
  #isFull = false;

  constructor(onFull: (error: UserError) => void) {
    this.#onFull = onFull;
    this.#timer = setInterval(() => this.isFull(), WATCH_MS);
    this.#timer.unref();
  }

  add(directory: string): void {
    this.#directories.push(directory);
  }

  /** Looks now, so that a crash for lack of space is known as one. */
  isFull(): boolean {
    if (this.#isFull) return true;
    const full = this.#directories.find((directory) => freeBytes(directory) < RUN_BYTES_MIN);
    if (full === undefined) return false;
    this.#isFull = true;
    this.#onFull(fullDisk(full, freeBytes(full), 'Everything stops now. No confirmed change is lost.'));
    return true;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function fullDisk(directory: string, free: number, what: string): UserError {
  return new UserError(
    `The disk of ${directory} is full: ${Math.floor(free / MB)} MB are free. ${what}\n` +
      `Free at least ${START_BYTES_MIN / MB} MB and start again: npm start`,
  );
}

/** Infinity where the system does not say. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, bsize, blocks } = statfsSync(directory);
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch {
    return Infinity;
  }
}
