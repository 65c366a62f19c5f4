import { createLogger, defineSettings, migrate, parseSettings } from '@wts/service-kit';
import { join } from 'node:path';
import { storeSettings } from './config.ts';

const { databaseUrl } = parseSettings(defineSettings({ databaseUrl: storeSettings.databaseUrl }), process.env);

await migrate({
  url: databaseUrl,
  directory: join(import.meta.dirname, 'migrations'),
  schema: 'workspace',
  log: createLogger({ name: 'workspace-migrate', level: 'info' }),
});
