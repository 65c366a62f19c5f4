/** What tests and tools build on; `npm start` itself is `start.ts`. */
export { migrateServices, migrationsHash, picked } from './database/migrate.ts';
export type { Database, DatabaseRole } from './database/provision.ts';
export {
  DATABASE_ROLES,
  databaseExists,
  describeDatabase,
  dropDatabase,
  provision,
  withServerLock,
} from './database/provision.ts';
export { LOCAL, ROOT, STACK_FILE } from './layout.ts';
export { removeAtExit } from './processes/guard.ts';
export { identityOf, isAlive } from './processes/identity.ts';
export { freePort } from './processes/ports.ts';
export { Refusal } from './refusal.ts';
export type { Secrets } from './secrets.ts';
export { makeSecrets } from './secrets.ts';
export type { NatsServer } from './servers/nats.ts';
export { openNats } from './servers/nats.ts';
export type { PostgresServer } from './servers/postgres.ts';
export { openPostgres } from './servers/postgres.ts';
export type { StackFile } from './stack-file.ts';
export { readStackFile } from './stack-file.ts';
export type { Demo, StackOptions } from './stack.ts';
export { API_KEY_PREFIX, LOCAL_JWT, Stack } from './stack.ts';
export { SupervisedService } from './supervised.ts';
