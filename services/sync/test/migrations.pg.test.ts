import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ModelRecord } from '@wts/contracts';
import { columnsOf, modelNamed, MODELS, type Model } from '@wts/models';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { testDatabase } from '@wts/testkit';
import knexFactory from 'knex';
import { Client } from 'pg';
import { addField } from '../src/store/add-field.ts';
import * as createSweeps from '../src/migrations/0009-create-sweeps.ts';
import * as addRepeating from '../src/migrations/0019-add-repeating.ts';
import { assertLogIsState } from './fold.ts';
import { applied, change, membership, TestPerson, TestEngines } from './test-engines.ts';

const directory = join(import.meta.dirname, '../src/migrations');
const log = createLogger({ name: 'test', level: 'silent' });

describe('the migrations', () => {
  it('run up on an empty database, down on data, and up again to the same schema', async () => {
    await using database = await testDatabase('migrations');
    const url = database.urlOf('wts_sync');
    const shape = async (): Promise<unknown[]> => {
      const client = new Client({ connectionString: url });
      await client.connect();
      const columns = await client.query<object>(
        `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns where table_schema = 'sync' and table_name not like 'migrations%' order by 1, 2`,
      );
      const indexes = await client.query<object>(
        `select indexdef from pg_indexes where schemaname = 'sync' and tablename not like 'migrations%' order by 1`,
      );
      await client.end();
      return [...columns.rows, ...indexes.rows];
    };
    const options = { url, directory, schema: 'sync', log };
    const names = await migrate(options);
    assert.ok(names.length >= 2);
    assert.deepEqual(await migrate(options), []);
    const first = await shape();

    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(
      `insert into sync.labels (id, name, created_at, updated_at, workspace_id, group_id, record) values (gen_random_uuid(), 'L', now(), now(), gen_random_uuid(), gen_random_uuid(), '{}')`,
    );
    await client.query(
      `insert into sync.sync_actions values (1, gen_random_uuid(), null, gen_random_uuid(), 'Label', gen_random_uuid(), 'INSERT', '{}', null, '{}', gen_random_uuid(), 'c', 't', now())`,
    );
    await client.end();
    assert.equal((await migrate({ ...options, direction: 'down' })).length, names.length);
    assert.deepEqual(await shape(), []);
    await migrate(options);
    assert.deepEqual(await shape(), first);
  });

  it('build an index again that was not finished, and none that is there', async () => {
    await using database = await testDatabase('migration_index', { migrated: true });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const indexes = async (): Promise<{ oid: number; indisvalid: boolean }[]> => {
      const found = await client.query<{ oid: number; indisvalid: boolean }>(
        `select indexrelid::int as oid, indisvalid from pg_index where indexrelid::regclass::text like 'sync.%search_keys_idx' order by 1`,
      );
      return found.rows;
    };
    const [tasks, comments] = await indexes();
    await client.query(`update pg_index set indisvalid = false where indexrelid = $1`, [comments?.oid]);
    await client.query(`delete from sync.migrations where name like '0023-%'`);
    await migrate({ url: database.urlOf('wts_sync'), directory, schema: 'sync', log });
    const now = await indexes();
    await client.end();
    assert.deepEqual(now[0], tasks);
    assert.ok(now[1]?.indisvalid && now[1].oid !== comments?.oid);
  });

  it('keep the data of a database that has recorded them under their former names', async () => {
    await using engines = await TestEngines.open('migration_names', 1);
    const owner = await engines.person('Owner');
    await engines.workspace(owner);
    const names = async (): Promise<string[]> => {
      const { rows } = await engines.pool.query<{ name: string }>('select name from sync.migrations order by id');
      return rows.map(({ name }) => name);
    };
    const [present, entries] = [await names(), await engines.entries()];
    for (const [index, name] of FORMER_NAMES.entries())
      await engines.pool.query(`update sync.migrations set name = $1 where name = $2`, [name, present[index]]);
    assert.deepEqual((await names()).slice(0, FORMER_NAMES.length), FORMER_NAMES);
    assert.deepEqual(await migrate({ url: engines.database.urlOf('wts_sync'), directory, schema: 'sync', log }), []);
    assert.deepEqual(await names(), present);
    assert.deepEqual(await engines.entries(), entries);
  });
});

const FORMER_NAMES = [
  '0001-create-models',
  '0002-create-log',
  '0003-let-the-log-age',
  '0004-remember-client-models',
  '0005-insist',
  '0006-find-pages',
  '0007-hide-project-keys',
  '0008-show-from-the-gain',
  '0009-sweep-cascades',
  '0012-remember-losses',
];

describe('a person who left a workspace before leaving froze people', () => {
  it('is frozen by the migration, also in the log, and no other person is [sync.people.frozen]', async () => {
    await using engines = await TestEngines.open('migration_frozen', 1);
    const owner = await engines.person('Owner');
    const workspace = await engines.workspace(owner);
    const id = randomUUID();
    const name = 'E "email":"not@me.example" ve';
    await engines.decided(id, change('INSERT', 'User', id, { name, email: 'a"b\\@example.org' }));
    const member = randomUUID();
    await engines.decided(id, membership(workspace, id, 'member', member));
    await engines.workspace(new TestPerson(engines, id));
    await owner.delete('WorkspaceMember', member);
    // As before, when leaving wrote no entries that freeze.
    const frozen = (await engines.entries()).filter(
      ({ modelId, changed }) => modelId === id && changed.includes('email'),
    );
    assert.equal(frozen.length, 3);
    await engines.pool.query('delete from sync.sync_actions where sync_id = any($1)', [
      frozen.map(({ syncId }) => syncId),
    ]);
    const knex = knexFactory({ client: 'pg', connection: engines.database.urlOf('wts_sync') });
    try {
      await knex.transaction((transaction) => createSweeps.down(transaction));
      await knex.transaction((transaction) => createSweeps.up(transaction));
    } finally {
      await knex.destroy();
    }
    const again = (await engines.entries()).filter(
      ({ modelId, changed }) => modelId === id && changed.includes('email'),
    );
    assert.deepEqual(
      again.map(({ data, groupId }) => [groupId === workspace, data['email']]),
      [
        [true, null],
        [false, 'a"b\\@example.org'],
        [false, 'a"b\\@example.org'],
      ],
    );
    assert.equal(again[0]?.record['name'], name);
    await assertLogIsState(await engines.entries(), engines.pool);
  });
});

describe('a task that had a rule before the server acted on it', () => {
  it('begins a series of its own, also where it names another task that repeats', async () => {
    await using engines = await TestEngines.open('migration_series', 1);
    const owner = await engines.person();
    const workspaceId = await engines.workspace(owner);
    const make = (payload: object): Promise<string> => owner.make('Task', { workspaceId, title: 'T', ...payload });
    const repeatRule = 'FREQ=WEEKLY';
    const dated = await make({ repeatRule, startDate: '2020-06-01' });
    const undated = await make({ repeatRule, repeatFrom: 'completion' });
    const done = await make({ repeatRule, startDate: '2020-06-01', completedAt: '2020-06-01' });
    const plain = await make({});
    const knex = knexFactory({ client: 'pg', connection: engines.database.urlOf('wts_sync') });
    try {
      await knex.transaction((transaction) => addRepeating.down(transaction));
      await knex.raw(`update sync.tasks set repeat_template_id = ? where repeat_rule is not null`, [plain]);
      for (const [id, first] of [
        [dated, null],
        [undated, dated],
      ] as const)
        await knex.raw(`update sync.tasks set repeat_template_id = ? where id = ?`, [first, id]);
      await knex.transaction((transaction) => addRepeating.up(transaction));
    } finally {
      await knex.destroy();
    }
    const { rows } = await engines.checks.query<{ id: string; record: ModelRecord; rebuilt: ModelRecord }>(
      `select id, record, ${recordFromColumnsSql(modelNamed('Task'))} as rebuilt from sync.tasks`,
    );
    for (const { record, rebuilt } of rows) assert.equal(JSON.stringify(rebuilt), JSON.stringify(record));
    const shown = new Map(
      rows.map(({ id, record }) => [
        id,
        [record['repeatFrom'], record['repeatAnchor'], record['repeatIndex'], record['repeatNextDate']],
      ]),
    );
    assert.deepEqual(shown.get(dated), ['date', '2020-06-01', 1, '2020-06-01']);
    assert.deepEqual(shown.get(done), ['date', '2020-06-01', 1, null]);
    assert.deepEqual([shown.get(undated)?.[0], shown.get(undated)?.[3]], ['completion', null]);
    assert.deepEqual(shown.get(plain), ['date', null, null, null]);
    const series = rows.flatMap(({ record }) => (record['repeatRule'] === null ? [] : [record['repeatTemplateId']]));
    assert.equal(new Set(series).size, 3);
  });
});

describe('a table of records', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    engines = await TestEngines.open('tables', 1);
    owner = await engines.person('Ünï 🚧 \\ " \' \u2028');
    workspace = await engines.workspace(owner);
    const home = { workspaceId: workspace };
    const teamId = await owner.make('Team', { ...home, key: 'T', name: 'Team' });
    await owner.make('TeamMember', { teamId, userId: owner.id });
    const projectId = await owner.make('Project', {
      ...home,
      key: 'P',
      name: 'P',
      startDate: '0001-01-01',
      targetDate: '9999-12-31',
      status: 'done',
    });
    await owner.make('ProjectMember', { projectId, userId: owner.id });
    const labels = [
      await owner.make('Label', { ...home, name: 'A', color: '#aabbcc' }),
      await owner.make('Label', { ...home, name: 'B' }),
    ];
    const taskId = await owner.make('Task', {
      ...home,
      title: 'e\u0301 🚧',
      description: 'two\nlines\t"quoted" \\ \u0001',
      projectId,
      teamId,
      assigneeId: owner.id,
      labelIds: labels,
      priority: 4,
      startDate: '2024-02-29',
      deadlineAt: 1_795_222_326_625,
      completedAt: '2026-11-21T09:00:00.001+02:00',
    });
    await owner.make('Task', { ...home, title: 'Bare' });
    await owner.make('TaskChecklistItem', {
      ...home,
      taskId,
      title: 'Step',
      completedAt: '0001-01-01',
      sortOrder: 1.5,
    });
    await owner.make('TaskChecklistItem', { ...home, taskId, title: 'Last', completedAt: '0001-01-01T00:00:00.001Z' });
    const comment = await owner.make('Comment', { ...home, taskId, body: 'One' });
    await owner.change('Comment', comment, { body: 'Two' });
    applied(await owner.try('ARCHIVE', 'Task', taskId));
  });
  after(() => engines[Symbol.asyncDispose]());

  for (const model of MODELS) {
    it(`has columns of ${model.name} that equal the fields of its record`, async () => {
      for (const zone of ['UTC', 'America/St_Johns', 'Asia/Kathmandu']) {
        const client = new Client({ connectionString: engines.database.urlOf('wts_sync') });
        await client.connect();
        await client.query(`set timezone = '${zone}'; set datestyle = 'German, DMY'`);
        const { rows } = await client.query<{ record: ModelRecord; rebuilt: ModelRecord }>(
          `select record, ${recordFromColumnsSql(model)} as rebuilt from sync.${model.table}`,
        );
        await client.end();
        assert.ok(rows.length > 0);
        for (const { record, rebuilt } of rows) assert.equal(JSON.stringify(rebuilt), JSON.stringify(record));
      }
    });
  }

  it('gets a column for a new field, and its records get the field in its position', async () => {
    const before = await labels();
    const knex = knexFactory({ client: 'pg', connection: engines.database.urlOf('wts_sync') });
    try {
      const added = { table: 'labels', after: 'color' } as const;
      await addField(knex, { ...added, field: 'isPinned', type: 'boolean', initial: 'false' });
      await addField(knex, { ...added, field: 'shortName', type: 'text', initial: null });
      const { rows } = await engines.pool.query('select distinct is_pinned, short_name from sync.labels');
      assert.deepEqual(rows, [{ is_pinned: false, short_name: null }]);
      assert.deepEqual(
        await labels(),
        before.map((text) => text.replace(/("color":[^,]*),/, '$1,"shortName":null,"isPinned":false,')),
      );
    } finally {
      await knex.raw('alter table sync.labels drop column is_pinned, drop column short_name');
      await knex.destroy();
    }
  });

  async function labels(): Promise<string[]> {
    const { rows } = await engines.pool.query<{ text: string }>(
      'select record::text as text from sync.labels order by id',
    );
    return rows.map(({ text }) => text);
  }
});

function recordFromColumnsSql(model: Model): string {
  const parts = columnsOf(model).map(
    ({ field, name, type }) =>
      `'${field}', ${type === 'timestamptz' ? `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : name}`,
  );
  return `json_build_object(${parts.join(', ')})`;
}
