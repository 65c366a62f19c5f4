import { closeSync, copyFileSync, fstatSync, openSync, readSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** Logs must not fill the disk of a development machine. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** The last lines of a log from the byte `start` on, for a message about the exit of its process. */
export function lastLines(file: string, count: number, start = 0): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const size = fstatSync(descriptor).size;
      // `boundLogs` has emptied a log that is shorter than it was.
      const bytes = Buffer.alloc(Math.min(size < start ? size : size - start, TAIL_BYTES));
      readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8').trimEnd().split('\n').slice(-count).join('\n');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}

/** The current size of a log. */
export function endOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/**
 * Bounds each log and keeps one older generation. Processes have the files open, so a log is copied and truncated instead of
 * renamed. A line written between the two is lost, which is acceptable in development.
 */
export function boundLogs(directory: string): void {
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.log'))) {
    const file = join(directory, name);
    if (endOf(file) <= LOG_BYTES_MAX) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
