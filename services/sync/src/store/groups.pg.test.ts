import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { deltasSources, readDeltas } from '../deltas/read-deltas.ts';
import type { Queryable } from '@wts/log';
import { GroupCache, GroupReader } from '@wts/read-model';

const PROJECTS = 5_000;

describe('the groups of a person in thousands of private projects', () => {
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let user: string;
  let home: string;
  /** The statements that the database received, and the bytes in both directions. */
  let asked: { name: string; bytes: number }[];
  let counted: Queryable;
  let memory: GroupCache;

  before(async () => {
    database = await testDatabase('groups', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    writer = new LogWriter(pool);
    counted = {
      query: async (...args: unknown[]): Promise<unknown> => {
        const query = pool.query.bind(pool) as unknown as (...all: unknown[]) => Promise<{ rows: unknown[] }>;
        const answer = await query(...args);
        const { name, values } = args[0] as { name: string; values: unknown[] };
        asked.push({ name, bytes: JSON.stringify(values).length + JSON.stringify(answer.rows).length });
        return answer;
      },
    } as Queryable;
  });
  beforeEach(async () => {
    [user, home, asked, memory] = [randomUUID(), randomUUID(), [], new GroupCache()];
    await writer.join(user, home);
    await pool.query(
      `insert into sync.project_members (id, project_id, user_id, workspace_id, group_id, record, created_at, updated_at)
       select gen_random_uuid(), id, $1, $2, id, '{}', now(), now() from (select gen_random_uuid() as id from generate_series(1, ${PROJECTS}) offset 0) one`,
      [user, home],
    );
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  const groups = (): GroupReader => new GroupReader(counted, memory);
  async function move(action: 'INSERT' | 'DELETE', project: string): Promise<void> {
    const rows =
      action === 'INSERT'
        ? `insert into sync.project_members (id, project_id, user_id, workspace_id, group_id, record, created_at, updated_at)
             values (gen_random_uuid(), '${project}', '${user}', '${home}', '${project}', '{}', now(), now())`
        : `delete from sync.project_members where project_id = '${project}'`;
    const data = { projectId: project, userId: user };
    await writer.append([{ groupId: user, workspaceId: home, action, modelName: 'ProjectMember', data }], { rows });
  }
  const poll = (after: string): Promise<string> =>
    readDeltas(deltasSources(counted, null, memory), {
      userId: user,
      after: BigInt(after),
      limit: 1000,
      requested: new Set(),
      spelling: 'words',
    });

  it('are read once, and after that only checked for changes [never.unbounded]', async () => {
    const first = await groups().of(user);
    assert.equal(first.groups.size, PROJECTS + 2);
    asked = [];
    await writer.append([{ groupId: randomUUID() }]);
    const again = await groups().of(user);
    assert.equal(again.groups, first.groups);
    assert.ok(again.at > first.at);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['group_changes'],
    );
    assert.ok(asked[0]!.bytes < 500, `${asked[0]!.bytes} bytes`);
  });

  it('follow each gain and loss, and are read again only when a workspace is gained or lost', async () => {
    const { groups: before } = await groups().of(user);
    asked = [];
    const project = randomUUID();
    await move('INSERT', project);
    const gained = await groups().of(user);
    assert.deepEqual([gained.groups.has(project), gained.gains.get(project)], [true, gained.at]);
    assert.ok(!before.has(project), 'what was given out before has changed');
    await move('DELETE', project);
    assert.deepEqual((await groups().of(user)).groups, before);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['group_changes', 'group_changes'],
    );
    await writer.leave(user, home);
    // All private projects in it are lost with it, although the memberships still exist.
    assert.deepEqual((await groups().of(user)).groups, new Set([user]));
    const back = await writer.join(user, home);
    const known = await groups().of(user);
    assert.equal(known.groups.size, PROJECTS + 2);
    // After a new gain they are visible from there on.
    assert.ok([...known.gains.values()].every((gain) => gain === BigInt(back.last)));
    for (const fresh of [known.groups, (await new GroupReader(pool).of(user)).groups])
      assert.deepEqual(fresh, known.groups);
  });

  it('cost a poller at the head nothing, and one shortly before it the entries between [sync.deltas.horizon, never.unbounded]', async () => {
    const start = (await writer.append([{ groupId: home }])).last;
    await poll(start);
    asked = [];
    await poll(start);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['group_changes'],
    );
    await writer.append(Array.from({ length: 20 }, () => ({ groupId: randomUUID() })));
    asked = [];
    const quiet = JSON.parse(await poll(start)) as { actions: unknown[] };
    assert.deepEqual(quiet.actions, []);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['group_changes', 'groups_of_next'],
    );
    assert.ok(
      asked.every(({ bytes }) => bytes < 2_000),
      JSON.stringify(asked),
    );
    await writer.append([{ groupId: home }]);
    asked = [];
    const one = JSON.parse(await poll(start)) as { actions: unknown[] };
    assert.equal(one.actions.length, 1);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['group_changes', 'groups_of_next', 'read_entries'],
    );
    assert.ok(
      asked.every(({ bytes }) => bytes < 2_000),
      JSON.stringify(asked),
    );
  });

  it('of a reader of few groups are checked for changes by the statement that reads the page', async () => {
    const reader = randomUUID() as string;
    const other = randomUUID() as string;
    await writer.join(reader, home);
    const page = async (): Promise<{ actions: { groupId: string }[]; lastSyncId: string }> => {
      asked = [];
      const request = {
        userId: reader,
        after: 0n,
        limit: 1000,
        requested: new Set<string>(),
        spelling: 'words',
      } as const;
      return JSON.parse(await readDeltas(deltasSources(counted, null, memory), request)) as Awaited<
        ReturnType<typeof page>
      >;
    };
    await page();
    const { last } = await writer.append([{ groupId: home }, { groupId: other }]);
    assert.equal((await page()).lastSyncId, last);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['read_entries_at_head'],
    );
    await writer.leave(reader, home);
    assert.deepEqual(
      (await page()).actions.filter(({ groupId }) => groupId === home),
      [],
    );
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['read_entries_at_head', 'group_changes', 'person_groups', 'read_entries'],
    );
  });

  it('are read once for concurrent requests, and cached within a bound [never.unbounded]', async () => {
    const known = await Promise.all(Array.from({ length: 20 }, () => groups().of(user)));
    assert.equal(new Set(known.map((one) => one.groups)).size, 1);
    assert.equal(asked.filter(({ name }) => name === 'person_groups').length, 1);
    memory = new GroupCache(PROJECTS);
    await groups().of(user);
    await groups().of(home);
    asked = [];
    await groups().of(user);
    await groups().of(home);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['person_groups', 'group_changes'],
    );
  });
});
