import { join } from 'node:path';
import type { databaseSettings } from '../config/database-settings.ts';
import { parseSettings } from '../config/settings.ts';
import { createLogger } from '../observe/logger.ts';
import { migrate } from './migrate.ts';

interface ServiceMigrations {
  readonly name: string;
  /** The name of the service when left out. */
  readonly schema?: string;
  readonly database: ReturnType<typeof databaseSettings>;
  /** The folder of the service that has `migrations/`. */
  readonly folder: string;
}

/** What `src/migrate.ts` of a service does: brings the schema of the service up to date. */
export async function migrateService(
  { name, schema = name, database, folder }: ServiceMigrations,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { databaseUrl, migrationDatabaseUrl } = parseSettings(database, env);
  await migrate({
    url: migrationDatabaseUrl ?? databaseUrl,
    directory: join(folder, 'migrations'),
    schema,
    log: createLogger({ name: `${name}-migrate`, level: 'info' }),
  });
}
