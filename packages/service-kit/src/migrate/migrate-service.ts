import { databaseSettings } from '../config/database-settings.ts';
import { parseSettings, type Environment } from '../config/settings.ts';
import { setOtherPassword } from '../config/database-passwords.ts';
import { lacking, pendingMigrations, type ServiceMigrations } from './recorded.ts';

/** `migrate`: brings the schema of a service up to date. */
export async function migrateService({ schema, directory }: ServiceMigrations, env: Environment): Promise<void> {
  const [{ createLogger }, { migrate }] = await Promise.all([import('../observe/logger.ts'), import('./migrate.ts')]);
  const log = createLogger({ name: `${schema}-migrate`, level: 'info' });
  await migrate({ url: urlOf(schema, env), directory, schema, log });
}

/** `migrate --plan`: prints the migrations that `migrate` would run. */
export async function planMigration(migrations: ServiceMigrations, env: Environment): Promise<void> {
  const pending = await pendingMigrations(urlOf(migrations.schema, env), migrations);
  process.stdout.write(`${pending.length === 0 ? nothingToDo(migrations) : pending.join('\n')}\n`);
}

/** `migrate --check`: throws a SetupError unless the schema has every migration that this version needs. A newer schema has them. */
export async function checkSchema(migrations: ServiceMigrations, env: Environment): Promise<void> {
  const pending = await pendingMigrations(urlOf(migrations.schema, env), migrations);
  if (pending.length > 0) throw lacking(migrations, pending);
  process.stdout.write(`${nothingToDo(migrations)}\n`);
}

function nothingToDo({ schema }: ServiceMigrations): string {
  return `Schema ${schema} has every migration of this version.`;
}

function urlOf(schema: string, env: Environment): string {
  const { databaseUrl, migrationDatabaseUrl, otherPassword } = parseSettings(databaseSettings(`wts_${schema}`), env);
  setOtherPassword([databaseUrl, migrationDatabaseUrl], otherPassword);
  return migrationDatabaseUrl ?? databaseUrl;
}
