import { migrateService } from '@wts/service-kit/migrate';
import { database } from './config.ts';

await migrateService(
  { name: 'webhook-dispatcher', schema: 'webhooks', database, folder: import.meta.dirname },
  process.env,
);
