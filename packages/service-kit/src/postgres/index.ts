export { idempotencyKeys } from './idempotency-keys.ts';
export { checkPostgres } from './check-postgres.ts';
export { tryLease } from './lease.ts';
export { startLeasedWork } from './leased-work.ts';
export type { LeasedWork } from './leased-work.ts';
export { LOCK_TIMEOUT, openPostgres } from './postgres.ts';
export type { Postgres, PostgresOptions } from './postgres.ts';
export { rows } from './rows.ts';
export { faultOfSqlState, isRetryableSqlState } from './sqlstate.ts';
