/** What tests and tools build on; `npm start` itself is `start.ts`. */
export { migrateServices, migrationsHash } from './database/migrate.ts';
export type { Database, DatabaseRole } from './database/provision.ts';
export { databaseExists, describeDatabase, dropDatabase, provision, withServerLock } from './database/provision.ts';
export { LOCAL } from './layout.ts';
export { removeAtExit } from './processes/guard.ts';
export { identityOf, isAlive } from './processes/identity.ts';
export { launch } from './processes/launch.ts';
export type { RunningProcess } from './processes/launch.ts';
export { Refusal } from './refusal.ts';
export { makeSecrets } from './secrets.ts';
export { fetchDebianPackages } from './servers/debian.ts';
export type { NatsServer } from './servers/nats.ts';
export { openNats } from './servers/nats.ts';
export type { PostgresServer } from './servers/postgres.ts';
export { openPostgres } from './servers/postgres.ts';
export { LOCAL_JWT, Stack } from './stack.ts';
export { SupervisedService } from './supervised.ts';
export { runTask } from './task.ts';
