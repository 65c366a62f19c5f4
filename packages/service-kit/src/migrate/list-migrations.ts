import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';

/** A file of a folder of migrations, `NNNN-verb-noun.ts`. */
export interface Migration {
  readonly name: string;
  readonly path: string;
}

interface MigrationModule extends Knex.Migration {
  /** The name of the migration in earlier versions, under which databases have recorded it. */
  readonly formerName?: string;
}

const fileName = /^\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.(?:ts|js)$/;

/** In the order in which they run. */
export async function listMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory))
    .filter((file) => !file.endsWith('.d.ts') && !file.endsWith('.test.ts'))
    .sort();
  const stray = files.find((file) => /\.[jt]s$/.test(file) && !fileName.test(file));
  if (stray !== undefined) throw new Error(`${stray} in ${directory} is not named like a migration: NNNN-verb-noun.`);
  const migrations = files.filter((file) => fileName.test(file));
  const numbers = new Set(migrations.map((file) => file.slice(0, 4)));
  if (numbers.size !== migrations.length) throw new Error(`Two migrations in ${directory} have the same number.`);
  // Names without extension: the same migration is .ts in development and .js in an image.
  return migrations.map((file) => ({ name: parse(file).name, path: join(directory, file) }));
}

export async function loadMigration({ path }: Migration): Promise<MigrationModule> {
  return (await import(pathToFileURL(path).href)) as MigrationModule;
}
