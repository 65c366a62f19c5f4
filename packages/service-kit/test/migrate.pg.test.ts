import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, scratch, testDatabase, type TestDatabase } from '@wts/testkit';
import { Fault } from '@wts/contracts';
import { Client } from 'pg';
import { migrate } from '../src/migrate/index.ts';
import { checkSchema } from '../src/migrate/migrate-service.ts';
import { pendingMigrations } from '../src/migrate/recorded.ts';
import { schemaCheck } from '../src/migrate/schema-check.ts';
import { createLogger, Readiness } from '../src/observe/index.ts';

const log = createLogger({ name: 'demo', level: 'silent' });
const directory = join(import.meta.dirname, 'migrations');
const all = ['0001-create-things', '0002-add-day-to-things'];

describe('migrating a schema', () => {
  let database: TestDatabase;
  before(async () => (database = await testDatabase('migrate')));
  after(() => database.drop());
  afterEach(() => query('drop schema if exists demo cascade'));

  const run = (more: Partial<Parameters<typeof migrate>[0]> = {}): Promise<string[]> =>
    migrate({ url: database.url, directory, schema: 'demo', log, ...more });

  async function query<T extends object>(sql: string): Promise<T[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function folder(files: Record<string, string>): Promise<string> {
    const made = scratch('migrations');
    for (const [name, text] of Object.entries(files)) await writeFile(join(made, name), text);
    return made;
  }

  it('creates the schema, runs each new migration once, in order, and stores their names without extension', async () => {
    assert.deepEqual(await run(), all);
    assert.deepEqual(await run(), []);
    await query("insert into demo.things (id, name, day) values (gen_random_uuid(), 'a', '2026-11-21')");
    const rows = await query('select name from demo.migrations order by id');
    assert.deepEqual(
      rows,
      all.map((name) => ({ name })),
    );
  });

  it('keeps data and runs nothing again when the file of an applied migration was renamed', async () => {
    await run();
    await query("insert into demo.things (id, name, day) values (gen_random_uuid(), 'a', '2026-11-21')");
    const [first, second] = await Promise.all(all.map((name) => readFile(join(directory, `${name}.ts`), 'utf8')));
    const renamed = await folder({
      '0001-create-things.ts': first ?? '',
      '0002-give-things-a-day.ts': `${second}\nexport const formerName = '0002-add-day-to-things';\n`,
    });
    const rows = (): Promise<{ name: string }[]> => query('select name from demo.migrations order by id');
    for (let start = 0; start < 2; start += 1) {
      assert.deepEqual(await run({ directory: renamed }), []);
      assert.deepEqual(await rows(), [{ name: '0001-create-things' }, { name: '0002-give-things-a-day' }]);
    }
    assert.equal((await query('select from demo.things')).length, 1);
  });

  it('by many processes runs once, and the others find nothing to do', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => run()));
    assert.deepEqual(
      outcomes.filter(({ length }) => length > 0),
      [all],
    );
  });

  it('continues after a migration that was killed in the middle', async () => {
    await run();
    await query('update demo.migrations_lock set is_locked = 1');
    assert.deepEqual(await run(), []);
  });

  it('can be planned and checked before, which changes nothing', async () => {
    const check = (): Promise<void> => checkSchema({ schema: 'demo', directory }, { DATABASE_URL: database.url });
    assert.deepEqual(await pendingMigrations(database.url, { schema: 'demo', directory }), all);
    await assert.rejects(check(), ({ message }: Error) => all.every((name) => message.includes(name)));
    assert.deepEqual(await query("select 1 from pg_namespace where nspname = 'demo'"), []);
    await run();
    assert.deepEqual(await pendingMigrations(database.url, { schema: 'demo', directory }), []);
  });

  it('makes a service ready that was started before it, and whose /ready said what is lacking until then [meta.ready.schema]', async () => {
    const readiness = new Readiness(log);
    readiness.add('schema', schemaCheck(database.url, { schema: 'demo', directory }));
    await assert.rejects(readiness.check(), (fault) => {
      assert.ok(fault instanceof Fault);
      assert.equal(
        fault.publicMessage,
        `Schema demo lacks what this version needs; run "migrate" of the service that owns it: ${all.join(', ')}.`,
      );
      return fault.code === 'unavailable';
    });
    await run();
    await eventually(() => readiness.check().then(() => true));
  });

  it('makes a service ready that reads the schema of another one, also at a later migration under another name [meta.ready.schema]', async () => {
    const needing = (migration: string): Readiness => {
      const readiness = new Readiness(log);
      readiness.add('schema', schemaCheck(database.url, { schema: 'demo', migration }));
      return readiness;
    };
    const [late, renamed] = [needing(String(all[1])), needing('0001-make-things')];
    await assert.rejects(renamed.check(), /Schema demo lacks what this version needs/);
    await run({
      directory: await folder({
        '0001-create-things.ts': await readFile(join(directory, '0001-create-things.ts'), 'utf8'),
      }),
    });
    await assert.rejects(late.check(), new RegExp(`of the service that owns it: ${all[1]}\\.$`));
    await eventually(() => renamed.check().then(() => true));
    await run();
    await eventually(() => late.check().then(() => true));
  });

  it('by an older version does nothing after a newer one has migrated it, and by one that lost a migration is refused [installation.rollback]', async () => {
    await run();
    const older = await folder({
      '0001-create-things.ts': await readFile(join(directory, '0001-create-things.ts'), 'utf8'),
    });
    assert.deepEqual(await run({ directory: older }), []);
    assert.deepEqual(await pendingMigrations(database.url, { schema: 'demo', directory: older }), []);
    const last = await folder({
      '0002-add-day-to-things.ts': await readFile(join(directory, '0002-add-day-to-things.ts'), 'utf8'),
    });
    await assert.rejects(run({ directory: last }), /lacks.*0001-create-things/);
  });

  it('that cannot connect says so in one sentence', async () => {
    const url = 'postgres://unknown@127.0.0.1:1/none';
    await assert.rejects(run({ url }), { name: 'SetupError', message: /^PostgreSQL does not accept the connection: / });
  });

  it('leaves nothing of a migration that fails', async () => {
    const broken = await folder({
      '0001-half.js': `export const up = async (knex) => {
        await knex.raw('create table demo.half (id int)');
        await knex.raw('select * from demo.nowhere');
      };
      export const down = async () => {};`,
    });
    await assert.rejects(run({ directory: broken }), /nowhere/);
    assert.deepEqual(await query("select 1 from pg_tables where tablename = 'half'"), []);
  });

  it('refuses two migrations with the same number, because their order is undefined', async () => {
    const text = 'export const up = async () => {}; export const down = up;';
    const twins = await folder({ '0001-one.js': text, '0001-two.js': text });
    await assert.rejects(run({ directory: twins }), /same number/);
  });

  it('refuses a file that is not named like a migration, because it would never run', async () => {
    const stray = await folder({ '1-one.js': '' });
    await assert.rejects(run({ directory: stray }), /1-one\.js/);
  });
});
