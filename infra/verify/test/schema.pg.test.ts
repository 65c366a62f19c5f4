import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MODELS, tableSql } from '@wts/models';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { testDatabase, type TestDatabase, connectTo } from '@wts/testkit';
import type { Client } from 'pg';
import { readSchema, schemaSql, type TableSchema } from './schema.ts';

const ROOT = join(import.meta.dirname, '../../..');
const COMMITTED = join(ROOT, 'infra/postgres/schema.sql');
const ROLES = join(ROOT, 'infra/postgres/roles.sql');
const RELEASED = join(ROOT, 'infra/postgres/released.sql');
/** In the order of their migrations: auth copies tables of workspace, which then drops them. */
const SCHEMAS = ['sync', 'auth', 'workspace', 'webhooks'] as const;
/** Where it differs from the name of the schema. */
const SERVICE_OF: Readonly<Record<string, string>> = { webhooks: 'webhook-dispatcher' };
/** So that a release cannot leave the schema of the one before in released.sql. */
const [, lastRelease] = /^## (\d\S+)$/m.exec(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
const HEAD = `-- Last release: ${lastRelease}. Made by a test, see README.md.\nset check_function_bodies = off;`;
const log = createLogger({ name: 'test', level: 'silent' });
/** A database from before auth had one of its own. */
const TOGETHER = { authDatabase: false };

/** The parts of each table in alphabetical order, because a migration adds columns at the end. */
function partsOf(tables: readonly TableSchema[]): Map<string, string[]> {
  const parts = tables.map(({ name, columns, constraints, indexes }): [string, string[]] => [
    name,
    [...columns, ...constraints, ...indexes].toSorted(),
  ]);
  return new Map(parts);
}

async function using<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  await using client = await connectTo(url);
  return await use(client);
}

async function migrateUp(database: TestDatabase): Promise<void> {
  for (const schema of SCHEMAS) {
    const directory = join(ROOT, `services/${SERVICE_OF[schema] ?? schema}/src/migrations`);
    await migrate({ url: database.urlOf(`wts_${schema}`), directory, schema, log });
  }
}

async function dump({ url }: TestDatabase): Promise<string> {
  const texts = await using(url, async (client) => {
    const all: string[] = [];
    for (const schema of SCHEMAS) all.push(schemaSql(schema, await readSchema(client, schema)));
    return all;
  });
  return `${[HEAD, ...texts].join('\n\n')}\n`;
}

describe('the schema of the database', () => {
  it('equals infra/postgres/schema.sql after all migrations', async () => {
    await using database = await testDatabase('schema', TOGETHER);
    await migrateUp(database);
    const text = await dump(database);
    if (process.env['RENEW_SCHEMA']) await writeFile(COMMITTED, text);
    assert.equal(text, await readFile(COMMITTED, 'utf8'));
  });

  for (const file of [COMMITTED, RELEASED]) {
    it(`equals infra/postgres/schema.sql when ${file.slice(ROOT.length + 1)} is migrated`, async () => {
      await using database = await testDatabase('schema', TOGETHER);
      await using(database.url, async (client) => client.query(await readFile(file, 'utf8')));
      // An administrator runs it before every migration to a new version, and again when the version before has ended.
      const setUpRoles = async (): Promise<unknown> =>
        using(database.url, async (client) => client.query(await readFile(ROLES, 'utf8')));
      await setUpRoles();
      await migrateUp(database);
      await setUpRoles();
      assert.equal(await dump(database), await readFile(COMMITTED, 'utf8'));
    });
  }

  it('has for each model the table that the registry declares', async () => {
    await using migrated = await testDatabase('schema', { migrated: true });
    await using declared = await testDatabase('schema', TOGETHER);
    const { functions } = await using(migrated.url, (client) => readSchema(client, 'sync'));
    await using(declared.urlOf('wts_sync'), async (client) => {
      // For the indexes that call them.
      await client.query(`set check_function_bodies = off; ${functions.join(';')}`);
      for (const statement of MODELS.flatMap(tableSql)) await client.query(statement);
    });
    const [tables, wanted] = await Promise.all(
      [migrated, declared].map(({ url }) => using(url, async (client) => (await readSchema(client, 'sync')).tables)),
    );
    const names = new Set(MODELS.map(({ table }) => table));
    assert.equal(wanted?.length, names.size);
    assert.deepEqual(partsOf((tables ?? []).filter(({ name }) => names.has(name))), partsOf(wanted ?? []));
  });
});
