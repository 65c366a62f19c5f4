import { join } from 'node:path';
import { createLogger, defineSettings, migrate, parseSettings } from '@wts/service-kit';
import { databaseSettings } from './config.ts';

const { databaseUrl, migrationDatabaseUrl } = parseSettings(defineSettings(databaseSettings), process.env);

await migrate({
  url: migrationDatabaseUrl ?? databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'sync',
  log: createLogger({ name: 'sync-migrate', level: 'info' }),
});
