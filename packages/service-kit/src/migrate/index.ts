export { migrate } from './migrate.ts';
export { migrateService } from './migrate-service.ts';
