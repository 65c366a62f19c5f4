import { createLogger, defineSettings, migrate, parseSettings } from '@wts/service-kit';
import { join } from 'node:path';
import { databaseSettings } from './config.ts';

const { databaseUrl, migrationDatabaseUrl } = parseSettings(defineSettings(databaseSettings), process.env);

await migrate({
  url: migrationDatabaseUrl ?? databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'workspace',
  log: createLogger({ name: 'workspace-migrate', level: 'info' }),
});
