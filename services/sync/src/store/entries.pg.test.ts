import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { LogReader, readEntries, type EntryRange } from '@wts/log';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { GroupReader, type GroupsWithGains } from '@wts/read-model';
import * as fc from 'fast-check';
import { Pool } from 'pg';
import { makePartitions } from './partitions.ts';

const ENTRIES = 30_000;
const PARTITIONS = 10;
const PAGE = 1000;

const groupNamed = (name: string): string => {
  const hex = createHash('md5').update(name).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
const groupsNamed = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => groupNamed(`${name}${index}`));

function rangeOf(groups: Iterable<string>, after: number, limit: number, upTo = ENTRIES): EntryRange {
  return { groups: new Set(groups), after: BigInt(after), limit, upTo: BigInt(upTo) };
}

/** How much of the log was read, by the counters of PostgreSQL and not by time. */
interface Touched {
  /** Entries of indexes and rows of tables. */
  readonly rows: number;
  /** Of indexes and tables. */
  readonly blocks: number;
}

describe('a page of the log', () => {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  /** One connection: counters are its own. */
  let pool: Pool;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    database = stack.use(await testDatabase('entries', { migrated: true }));
    pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync'), max: 1 }), (one) => one.end());
  });
  afterEach(() => stack.disposeAsync());

  /** A log in partitions. `group` is SQL of the position n and a random number r from 0 to 9999. */
  async function fill(group: string, entries = ENTRIES): Promise<void> {
    await pool.query('drop table sync.sync_actions_0');
    for (let from = 0; from < PARTITIONS; from += 1)
      await makePartitions(pool, BigInt((from * entries) / PARTITIONS), BigInt(entries / PARTITIONS));
    // Autovacuum must not analyze the table during a test.
    const { rows } = await pool.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'sync.sync_actions'::regclass`,
    );
    for (const { name } of rows) await pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
    await write(group, 1, entries);
  }

  async function write(group: string, from: number, to: number): Promise<void> {
    await pool.query(
      `insert into sync.sync_actions (sync_id, event_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
       select n, id, ${group}, 'Task', id, 'UPDATE', '{}', '{}', '{title}', id, 'c', 't', now()
       from (select n, (random() * 9999)::int as r, (random() * 999999)::int as s, gen_random_uuid() as id
             from generate_series(${from}, ${to}) n offset 0) one`,
    );
  }

  async function counters(): Promise<Touched> {
    const { rows } = await pool.query<{ rows: string; blocks: string }>(
      `with log as (select inhrelid as id from pg_inherits where inhparent = 'sync.sync_actions'::regclass),
       read as (select indexrelid as id from pg_index join log on log.id = indrelid union all select id from log)
       select sum(pg_stat_get_xact_tuples_returned(id) + pg_stat_get_xact_tuples_fetched(id))::text as rows,
         sum(pg_stat_get_xact_blocks_fetched(id))::text as blocks from read`,
    );
    return { rows: Number(rows[0]?.rows), blocks: Number(rows[0]?.blocks) };
  }

  /** PostgreSQL reports counters between transactions, so all of it is one. */
  async function watch(work: () => Promise<unknown>): Promise<Touched> {
    await pool.query('begin');
    const before = await counters();
    await work();
    const after = await counters();
    await pool.query('rollback');
    return { rows: after.rows - before.rows, blocks: after.blocks - before.blocks };
  }

  async function expected(groups: readonly string[], after: number, limit: number, upTo: number): Promise<string[]> {
    const { rows } = await pool.query<{ at: string }>(
      `select sync_id::text as at from sync.sync_actions where group_id = any($1::uuid[]) and sync_id > $2 and sync_id <= $3
       order by sync_actions.sync_id limit $4`,
      [groups, after, upTo, limit],
    );
    return rows.map(({ at }) => at);
  }

  async function pageIsCheap(name: string, groups: readonly string[], timesMax = 7.5): Promise<void> {
    const limit = PAGE + 1;
    for (const after of [0, ENTRIES / 2, ENTRIES - 300, ENTRIES]) {
      let found: string[] = [];
      const touched = await watch(async () => {
        const { entries } = await readEntries(pool, rangeOf(groups, after, limit));
        found = entries.map(({ id }) => String(id));
      });
      assert.deepEqual(found, await expected(groups, after, limit, ENTRIES), name);
      const what = `${name}, after ${after}: ${touched.rows} rows in ${touched.blocks} blocks for ${found.length} entries`;
      // Each is found and read, in the index and in its row (when found, that is before the first VACUUM only).
      assert.ok(touched.rows <= timesMax * limit, what);
      assert.ok(touched.blocks <= timesMax * limit + 3 * groups.length * PARTITIONS + (await blocksOfOld(limit)), what);
    }
  }

  /** Relay and hub read all groups. */
  async function followingIsCheap(): Promise<void> {
    const log = new LogReader(pool);
    for (const after of [0n, BigInt(ENTRIES / 2), BigInt(ENTRIES)]) {
      const touched = await watch(() => log.read(after, PAGE));
      assert.ok(touched.rows <= 3 * PAGE, `all after ${after}: ${touched.rows} rows in ${touched.blocks} blocks`);
    }
  }

  /** Before PostgreSQL 17, each position is searched in each partition that the page covers. */
  async function blocksOfOld(limit: number): Promise<number> {
    const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version_num') as version`);
    return Number(rows[0]?.version) < 170_000 ? 2 * limit * PARTITIONS : 0;
  }

  /** By its positions and not by the groups, where a reader is in more groups than there are positions. */
  async function isFoundByPositions(): Promise<void> {
    const groups = new Set([...groupsNamed('busy', 200), ...groupsNamed('nothing', 19_800)]);
    for (const [after, upTo, limit] of [
      [ENTRIES - 300, ENTRIES, 1001],
      [ENTRIES - 5_000, ENTRIES, 10],
      [ENTRIES - 5_000, ENTRIES - 3_000, 5001],
      [0, ENTRIES, 20],
      [ENTRIES, ENTRIES, 20],
    ] as const) {
      let found: string[] = [];
      const touched = await watch(async () => {
        const { entries } = await readEntries(pool, rangeOf(groups, after, limit, upTo));
        found = entries.map(({ id }) => String(id));
      });
      assert.deepEqual(found, await expected([...groups], after, limit, upTo));
      const places = Math.min(upTo - after, 4 * (256 + limit));
      const what = `(${after}, ${upTo}]: ${touched.rows} rows in ${touched.blocks} blocks for ${found.length} entries`;
      assert.ok(touched.rows <= 3 * places + 7 * limit, what);
      // For each group in each partition it would be hundreds of thousands.
      assert.ok(touched.blocks <= 3 * places + 7 * limit + 3 * 200 * PARTITIONS + (await blocksOfOld(limit)), what);
    }
    // In a wide range it is less work to search for each group.
    const quiet = new Set([...groupsNamed('quiet', 200), ...groupsNamed('nothing', 800)]);
    const { entries } = await readEntries(pool, rangeOf(quiet, 0, 1000));
    assert.deepEqual(
      entries.map(({ id }) => String(id)),
      await expected([...quiet], 0, 1000, ENTRIES),
    );
  }

  const shapes: Record<string, readonly string[]> = {
    'one group with 1 %': [groupNamed('large')],
    'one group with 0.01 %': [groupNamed('small')],
    'one group without entries': [groupNamed('nothing')],
    '200 groups with 90 %': groupsNamed('busy', 200),
    '200 groups with 5 %': groupsNamed('calm', 200),
    '200 groups with 0.01 %': groupsNamed('quiet', 200),
    'one busy group among 200': [...groupsNamed('quiet', 199), groupNamed('busy7')],
    'more groups than the page has entries': [...groupsNamed('busy', 200), ...groupsNamed('nothing', 1300)],
  };
  const mixed = `md5(case when r < 9000 then 'busy' || s % 200 when r < 9500 then 'calm' || s % 200 when r < 9600 then 'large'
    when r < 9601 then 'small' when r < 9602 then 'quiet' || s % 200 else 'other' || s % 1000 end)::uuid`;

  const states: Record<string, readonly (() => Promise<unknown>)[]> = {
    'without statistics, and after VACUUM, also for a reader of more groups than there are positions [never.unbounded]':
      [() => fill(mixed), () => pool.query('vacuum analyze sync.sync_actions').then(isFoundByPositions)],
    'with statistics of a time when all was of one group': [
      async () => {
        await fill(`md5('all')::uuid`);
        await pool.query('analyze sync.sync_actions; delete from sync.sync_actions');
        await write(mixed, 1, ENTRIES);
      },
    ],
  };
  for (const [state, steps] of Object.entries(states)) {
    it(`is read at the cost of its entries, ${state}`, async () => {
      for (const arrange of steps) {
        await arrange();
        // Where there are more groups than entries, the positions of a window are read too, and deleted rows in it.
        for (const [name, groups] of Object.entries(shapes))
          await pageIsCheap(name, groups, groups.length > PAGE ? 10 : 7.5);
        await followingIsCheap();
      }
    });
  }

  it('is read at the cost of its entries, where many groups become busy at the same time', async () => {
    await fill(`md5(case when n < ${ENTRIES * 0.6} then 'other' else 'busy' end || s % 200)::uuid`);
    // Windows with too many entries are not read to the end.
    await pageIsCheap('busy later', groupsNamed('busy', 200), 30);
  });

  it('holds the first entries of its groups, for any distribution and any size', async () => {
    // Ranges of one group, of many, and of none of the wanted ones.
    await fill(
      `md5('g' || case (n / 40) % 5 when 0 then 0 when 1 then s % 6 when 2 then 9 when 3 then s % 12 else 1 end)::uuid`,
      2_000,
    );
    const groups = fc.subarray(groupsNamed('g', 12), { minLength: 1 });
    const place = fc.nat(2_050);
    await fc.assert(
      fc.asyncProperty(groups, place, place, fc.integer({ min: 1, max: 60 }), async (asked, after, upTo, limit) => {
        const page = await readEntries(pool, rangeOf(asked, after, limit, upTo));
        assert.deepEqual(
          page.entries.map(({ id }) => String(id)),
          await expected(asked, after, limit, upTo),
        );
        assert.equal(page.upTo, BigInt(Math.min(upTo, 2_000)));
      }),
      { numRuns: 40 },
    );
  });

  it('is read at the cost of its entries, where one group has all of the log, and costs a person who gained and lost groups the number of their gains', async () => {
    await fill(`md5('person')::uuid`);
    await pageIsCheap('all', [groupNamed('person')]);
    await pageIsCheap('all among 200', [...groupsNamed('nothing', 199), groupNamed('person')]);
    const [person, project, home] = [groupNamed('person'), groupNamed('project'), groupNamed('home')];
    await pool.query(
      `update sync.sync_actions set model = 'ProjectMember', action = case when sync_id = 500 then 'DELETE' else 'INSERT' end,
         record = json_build_object('projectId', $1::text) where sync_id in (400, 500, 20000)`,
      [project],
    );
    for (const [table, more] of [
      ['workspace_members', {}],
      ['project_members', { project_id: project }],
    ] as const) {
      const row = { id: groupNamed(table), user_id: person, workspace_id: home, group_id: home, record: '{}', ...more };
      const values = { ...row, ...(table === 'project_members' ? { group_id: project } : { role: 'member' }) };
      await pool.query(
        `insert into sync.${table} (created_at, updated_at, ${Object.keys(values).join(', ')}) values (now(), now(), ${Object.values(
          values,
        )
          .map((value) => `'${value}'`)
          .join(', ')})`,
      );
    }
    const groups = new GroupReader(pool);
    let known: GroupsWithGains | undefined;
    const first = await watch(async () => (known = await groups.of(person)));
    assert.deepEqual([known?.groups, known?.gains], [new Set([person, home, project]), new Map([[project, 20_000n]])]);
    assert.ok(first.rows < 50, `${first.rows} rows`);
    const again = await watch(() => groups.of(person));
    assert.ok(again.rows < 5, `${again.rows} rows, when nothing happened`);
  });
});
