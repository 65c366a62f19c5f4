import { closeSync, copyFileSync, fstatSync, openSync, readSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** A development machine must not fill up by requests somebody made weeks ago. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** The last lines of a log, for a message about why its process ended. */
export function lastLines(file: string, count: number): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const size = fstatSync(descriptor).size;
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8').trimEnd().split('\n').slice(-count).join('\n');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}

/** Where a log ends now: what is appended later can be read on its own. */
export function endOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/**
 * Keeps each log and one generation before it within bounds. The processes hold the files open for appending, so a
 * log is copied and emptied instead of renamed; a line written between the two is lost, which development can bear.
 */
export function boundLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.log'))) {
    const file = join(directory, name);
    if (endOf(file) <= LOG_BYTES_MAX) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
