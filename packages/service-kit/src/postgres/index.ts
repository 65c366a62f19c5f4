export { idempotencyKeys } from './idempotency-keys.ts';
export { checkPostgres } from './check-postgres.ts';
export { tryLease } from './lease.ts';
export type { Lease } from './lease.ts';
export { LOCK_TIMEOUT, openPostgres } from './postgres.ts';
export type { Postgres, PostgresOptions } from './postgres.ts';
export { rows } from './rows.ts';
export { faultOfSqlState, isRetryableSqlState } from './sqlstate.ts';
