import { Fault, type ErrorCode } from '@wts/contracts';

/**
 * The faults for errors of PostgreSQL and of connections to it. Applied where replies are rendered, so that no error of a statement
 * becomes an internal error, or shows SQL.
 * Keeps errors.409.conflict.
 */
const BY_CODE: Readonly<Record<string, ErrorCode>> = {
  // unique_violation, exclusion_violation
  '23505': 'conflict',
  '23P01': 'conflict',
  // foreign_key_violation: the referenced record was deleted meanwhile
  '23503': 'conflict',
  // not_null_violation, check_violation: a rule of the database that the validators do not have
  '23502': 'validation_failed',
  '23514': 'validation_failed',
  // program_limit_exceeded: a value too large for its index
  '54000': 'validation_failed',
};

/** Serialization failure, deadlock, lock not available: the same statement may succeed immediately. */
const RETRYABLE: readonly string[] = ['40001', '40P01', '55P03'];

/** Errors of Node and the pool without a connection to the database. */
const UNREACHABLE: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
];
const SYSCALLS: readonly string[] = ['connect', 'read', 'write', 'getaddrinfo', 'shutdown'];
const UNREACHABLE_TEXT =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;

const STATEMENT_END = ' - ';

/** Whether the service may retry immediately. */
export function isRetryableSqlState(error: unknown): boolean {
  return RETRYABLE.includes(codeOf(error));
}

/** The fault for an error of the database; undefined for other errors and for bugs (a missing table, bad SQL). */
export function faultOfSqlState(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  const isDatabase = /^[0-9A-Z]{5}$/.test(code) && 'severity' in error;
  const isUnavailable = isDatabase ? isTemporary(error, code) : isOfConnection(error, code);
  if (isUnavailable) return new Fault('unavailable', { cause: error });
  if (!isDatabase) return undefined;
  const known = code.startsWith('22') ? 'validation_failed' : BY_CODE[code];
  return known && new Fault(known, { cause: error });
}

function isTemporary(error: Error, code: string): boolean {
  // Without a constraint, a check violation is a row for which there is no partition yet.
  if (code === '23514') return (error as { constraint?: unknown }).constraint === undefined;
  return RETRYABLE.includes(code) || isOfServer(code);
}

/**
 * Connection exceptions (08), insufficient resources (53: disk full, too many connections), operator intervention (57:
 * cancelled by a timeout, shutting down, starting up), system errors (58), read-only server (25006), rejected log-in
 * because of a missing role or password (28), a missing database (3D000).
 */
function isOfServer(code: string): boolean {
  return /^(?:08|53|57|58|28)/.test(code) || code === '25006' || code === '25P03' || code === '3D000';
}

function isOfConnection(error: Error, code: string): boolean {
  const { syscall } = error as { syscall?: unknown };
  // An error without one of these system calls is not of a socket, such as a missing file.
  if (UNREACHABLE.includes(code) && typeof syscall === 'string' && SYSCALLS.includes(syscall)) return true;
  if (error instanceof AggregateError) return error.errors.some((one) => faultOfSqlState(one)?.code === 'unavailable');
  return UNREACHABLE_TEXT.test(withoutStatement(error.message));
}

/** knex puts the statement before the message of the driver. */
function withoutStatement(message: string): string {
  const at = message.lastIndexOf(STATEMENT_END);
  return at < 0 ? message : message.slice(at + STATEMENT_END.length);
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
