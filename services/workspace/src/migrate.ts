import { parseSettings } from '@wts/service-kit/config';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { join } from 'node:path';
import { database } from './config.ts';

const { databaseUrl, migrationDatabaseUrl } = parseSettings(database, process.env);

await migrate({
  url: migrationDatabaseUrl ?? databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'workspace',
  log: createLogger({ name: 'workspace-migrate', level: 'info' }),
});
