import { join } from 'node:path';
import { createLogger, defineSettings, migrate, parseSettings } from '@wts/service-kit';
import { storeSettings } from './config.ts';

const { databaseUrl } = parseSettings(defineSettings({ databaseUrl: storeSettings.databaseUrl }), process.env);

await migrate({
  url: databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'sync',
  log: createLogger({ name: 'sync-migrate', level: 'info' }),
});
