export { setOtherPassword } from '../config/database-passwords.ts';
export { backendOf, cancelOnAbort, isBackendKnown } from './cancel-on-abort.ts';
export { idempotencyKeys } from './idempotency-keys.ts';
export { checkPostgres } from './check-postgres.ts';
export { LOCK_TIMEOUT, openPostgres, type Postgres, type PostgresOptions } from './postgres.ts';
export { firstRow, rows } from './rows.ts';
export { openServicePostgres } from './service-postgres.ts';
export { faultOfSqlState, isRetryableSqlState } from './sqlstate.ts';
