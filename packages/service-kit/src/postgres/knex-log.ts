import type { Knex } from 'knex';
import type { Logger } from '../observe/logger.ts';

/**
 * Where knex says what it has to say: our log, where it is scrubbed. Left to itself it prints to standard output, between
 * the lines of the log. Whatever fails is thrown as well, and whoever catches it decides how bad it is.
 */
export function knexLog(log: Logger): Knex.Logger {
  const say = (text: unknown): void => log.debug({ text: String(text) }, 'knex');
  return { warn: say, error: say, debug: say, deprecate: say, enableColors: false };
}
