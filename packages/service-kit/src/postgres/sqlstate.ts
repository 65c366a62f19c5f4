import { Fault } from '@wts/contracts';

/**
 * What a failure of PostgreSQL, or of the way to it, means to a caller. The one table of this kind: it is applied where
 * answers are rendered, so that no statement that slips through shows itself as a bug of ours, or as SQL.
 * Keeps errors.409.conflict.
 */
const BY_CODE: Readonly<Record<string, () => Fault>> = {
  // unique_violation, exclusion_violation
  '23505': () => new Fault('conflict'),
  '23P01': () => new Fault('conflict'),
  // foreign_key_violation: what is referred to went away meanwhile
  '23503': () => new Fault('conflict'),
  // not_null_violation, check_violation: a rule of the database that the validators do not know
  '23502': () => new Fault('validation_failed'),
  '23514': () => new Fault('validation_failed'),
  // program_limit_exceeded: a value too large for its index
  '54000': () => new Fault('validation_failed'),
};

/** Serialization failure, deadlock, lock not available: the same statement may succeed at once. */
const RETRYABLE: readonly string[] = ['40001', '40P01', '55P03'];

/** Node and the pool, on the way to the database. */
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

/** A fault that is marked as worth another try at once, inside the service. */
export function isRetryableSqlState(error: unknown): boolean {
  return RETRYABLE.includes(codeOf(error));
}

/** The fault an error of the database stands for; undefined when it is none, or a bug (a missing table, bad SQL). */
export function faultOfSqlState(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  const isDatabase = /^[0-9A-Z]{5}$/.test(code) && 'severity' in error;
  if (!isDatabase) {
    const isUnreachable = isOfConnection(error, code);
    return isUnreachable ? new Fault('unavailable', { cause: error }) : undefined;
  }
  const known = BY_CODE[code];
  if (known !== undefined) return withCause(known(), error);
  if (code.startsWith('22')) return new Fault('validation_failed', { cause: error });
  if (RETRYABLE.includes(code) || isOfServer(code)) return new Fault('unavailable', { cause: error });
  return undefined;
}

/**
 * Connection exceptions (08), insufficient resources (53: disk full, too many connections), operator intervention (57:
 * cancelled by a timeout, shutting down, starting up), system errors (58), read-only server (25006), rejected log-in
 * because of a missing role or password (28), a database that is not there (3D000).
 */
function isOfServer(code: string): boolean {
  return /^(?:08|53|57|58|28)/.test(code) || code === '25006' || code === '25P03' || code === '3D000';
}

function isOfConnection(error: Error, code: string): boolean {
  const { syscall } = error as { syscall?: unknown };
  // Without a system call it is not of a socket; a file that is missing is something else.
  if (UNREACHABLE.includes(code) && typeof syscall === 'string' && SYSCALLS.includes(syscall)) return true;
  if (error instanceof AggregateError) return error.errors.some((one) => faultOfSqlState(one)?.code === 'unavailable');
  return UNREACHABLE_TEXT.test(error.message);
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

function withCause(fault: Fault, cause: Error): Fault {
  return new Fault(fault.code, { cause });
}
