import { isRetryableSqlState } from '@wts/service-kit/postgres';
import { MODELS, snakeCase, type Model } from '@wts/models';
import type { ErrorCode } from '@wts/contracts';

interface DatabaseError {
  readonly code?: unknown;
  readonly constraint?: unknown;
}

/** Which unique index belongs to which fields, to say in words what collided. */
const constraints = new Map<string, { code: ErrorCode; error: string }>();
/** Collisions that a second look decides better: the id was taken a moment ago, perhaps by the same device; or a number was. */
const decidedByAnotherLook = new Set(['idempotency_keys_pkey', 'used_groups_pkey']);
for (const model of MODELS) {
  decidedByAnotherLook.add(`${model.table}_pkey`);
  for (const fields of model.unique) {
    const name = `${model.table}_${fields.map(snakeCase).join('_')}_key`;
    if (fields.some((field) => model.fields[field]?.assigned === 'counter')) decidedByAnotherLook.add(name);
    constraints.set(name, keyTaken(model, fields));
  }
}

/** Another record has the values of these fields, which are unique. */
export function keyTaken(model: Model, fields: readonly string[]): { code: ErrorCode; error: string } {
  const own = fields.filter((field) => !['workspaceId', 'groupId'].includes(field)).join(' and ');
  const code = model.name === 'Workspace' ? 'slug_taken' : 'conflict';
  return { code, error: `Another ${model.name} has this ${own}` };
}

/** A refusal by a constraint of the model tables, in words; null for any other failure. */
export function explainConflict(error: unknown): { code: ErrorCode; error: string } | null {
  const { code, constraint } = error as DatabaseError;
  if (typeof code !== 'string') return null;
  if (code === '23505' && typeof constraint === 'string') return constraints.get(constraint) ?? null;
  // What validation let through and the column refuses (class 22 data, class 23 integrity): the caller's value all the same.
  if (code.startsWith('22') || code.startsWith('23'))
    return { code: 'validation_failed', error: 'A value cannot be stored' };
  return null;
}

/** in_failed_sql_transaction: the one that was sent before it on the same connection failed, and this one never began. */
const BEHIND_A_FAILURE = '25P02';

/**
 * Deadlocks, serialization and lock waits pass when tried again. So does a race for one idempotency key, for an id or for a
 * task's number: the loser then sees what the winner made. A race for the place in the log cannot happen under the lock;
 * after a promotion it might once.
 */
export function retriable(error: unknown): boolean {
  if (isRetryableSqlState(error)) return true;
  const { code, constraint } = error as DatabaseError;
  if (code === BEHIND_A_FAILURE) return true;
  if (code !== '23505' || typeof constraint !== 'string') return false;
  return decidedByAnotherLook.has(constraint) || constraint.startsWith('sync_actions');
}
