import { migrateService } from '@wts/service-kit/migrate';
import { database } from './config.ts';

await migrateService({ name: 'workspace', database, folder: import.meta.dirname }, process.env);
