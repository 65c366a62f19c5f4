import { defineSettings, parseSettings } from '@wts/service-kit/config';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { join } from 'node:path';
import { databaseSettings } from './config.ts';

const { databaseUrl, migrationDatabaseUrl } = parseSettings(defineSettings(databaseSettings), process.env);

await migrate({
  url: migrationDatabaseUrl ?? databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'auth',
  log: createLogger({ name: 'auth-migrate', level: 'info' }),
});
