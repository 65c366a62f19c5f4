import { isRetryableSqlState } from '@wts/service-kit/postgres';
import { MODELS, snakeCase, type Model } from '@wts/models';
import type { ErrorCode } from '@wts/contracts';

interface DatabaseError {
  readonly code?: unknown;
  readonly constraint?: unknown;
}

/** What to answer when a unique index refuses a record, by the name of the index. */
const constraints = new Map<string, { code: ErrorCode; error: string }>();
/** Unique indexes whose conflicts are decided by reading again: another transaction took the id or the number, perhaps a repetition of this one. */
const decidedByReadingAgain = new Set(['idempotency_keys_pkey', 'used_groups_pkey']);
for (const model of MODELS) {
  decidedByReadingAgain.add(`${model.table}_pkey`);
  for (const fields of model.unique) {
    const name = `${model.table}_${fields.map(snakeCase).join('_')}_key`;
    if (fields.some((field) => model.fields[field]?.assigned === 'counter')) decidedByReadingAgain.add(name);
    constraints.set(name, keyTaken(model, fields));
  }
}

/** Another record has the values of these fields, which are unique. */
export function keyTaken(model: Model, fields: readonly string[]): { code: ErrorCode; error: string } {
  const own = fields.filter((field) => !['workspaceId', 'groupId'].includes(field)).join(' and ');
  const code = model.name === 'Workspace' ? 'slug_taken' : 'conflict';
  return { code, error: `Another ${model.name} has this ${own}` };
}

/** What a constraint of the model tables refused, for the caller; null for any other failure. */
export function explainConflict(error: unknown): { code: ErrorCode; error: string } | null {
  const { code, constraint } = error as DatabaseError;
  if (typeof code !== 'string') return null;
  if (code === '23505' && typeof constraint === 'string') return constraints.get(constraint) ?? null;
  // A value that passed validation and that the column refuses (class 22 data, class 23 integrity) is the caller's error too.
  if (code.startsWith('22') || code.startsWith('23'))
    return { code: 'validation_failed', error: 'A value cannot be stored' };
  return null;
}

/** What a decision assumed does not hold (`sync.insist`). */
export function isOutdated(error: unknown): boolean {
  return (error as DatabaseError).code === '40001';
}

/** in_failed_sql_transaction: the transaction before it on the same connection failed, and this one never began. */
const AFTER_A_FAILED_TRANSACTION = '25P02';

/**
 * Deadlocks, serialization failures and lock timeouts may pass when tried again. So does a race for one idempotency key, for an
 * id or for a task number: the next try reads what the other transaction wrote. A race for a position in the log is impossible
 * under the lock; after a promotion one may happen.
 */
export function retriable(error: unknown): boolean {
  if (isRetryableSqlState(error)) return true;
  const { code, constraint } = error as DatabaseError;
  if (code === AFTER_A_FAILED_TRANSACTION) return true;
  if (code !== '23505' || typeof constraint !== 'string') return false;
  return decidedByReadingAgain.has(constraint) || constraint.startsWith('sync_actions');
}
