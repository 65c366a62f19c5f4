import type { Knex } from 'knex';
import type { Logger } from '../observe/logger.ts';

/**
 * Writes the messages of knex to our log, where they are scrubbed; by default knex prints them to standard output. Errors are also
 * thrown, and logged with their level where they are caught.
 */
export function knexLog(log: Logger): Knex.Logger {
  const write = (text: unknown): void => log.debug({ text: String(text) }, 'knex');
  return { warn: write, error: write, debug: write, deprecate: write, enableColors: false };
}
