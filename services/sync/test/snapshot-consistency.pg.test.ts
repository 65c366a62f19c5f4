import type { SyncAction } from '@wts/contracts';
import { MODELS } from '@wts/models';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { anyUnit, dice, newCast, type Cast, type Dice } from './random-changes.ts';
import { TestEngines } from './test-engines.ts';
import { caller, parseBootstrap, TestSyncService, type Bootstrap } from './test-sync-service.ts';

type State = Map<string, Record<string, unknown>>;

const key = (modelName: string, id: string): string => `${modelName} ${id}`;

function stateOf({ rows }: Bootstrap): State {
  const state: State = new Map();
  for (const { __class, ...record } of rows) {
    const name = key(String(__class), String(record.id));
    assert.ok(!state.has(name), `${name} is repeated`);
    state.set(name, record);
  }
  return state;
}

/** Applies an action as a client does. Fails on a change of a record that the client does not have. */
function apply(state: State, { modelName, modelId, action, data, syncId }: SyncAction): void {
  const name = key(modelName, modelId);
  if (action === 'DELETE') return void state.delete(name);
  if (action === 'INSERT') return void state.set(name, { ...data });
  const record = state.get(name);
  assert.ok(record, `${action} ${syncId} of ${name}, which the snapshot did not have`);
  Object.assign(record, data);
  return undefined;
}

/** A snapshot that was read between the changes. */
interface Taken {
  readonly userId: string;
  readonly query: Record<string, string>;
  readonly snapshot: Bootstrap;
}

async function take(sync: TestSyncService, cast: Cast, roll: Dice): Promise<Taken> {
  const { id: userId } = roll.of(cast.people);
  const query: Record<string, string> = {};
  if (roll.below(3) === 0)
    query['onlyModels'] = MODELS.filter(() => roll.below(2) === 0)
      .map(({ name }) => name)
      .join(',');
  if (roll.below(3) === 0) {
    const named = [roll.of(cast.workspaces), cast.ids.any('Project', roll), ...(roll.below(2) === 0 ? [userId] : [])];
    query['syncGroups'] = named.join(',');
  }
  const path = `/sync/bootstrap?${new URLSearchParams(query).toString()}`;
  const headers: Record<string, string> = roll.below(2) === 0 ? { 'accept-encoding': 'gzip' } : {};
  const answer = await sync.raw(path, caller(userId), headers);
  const body = await buffer(answer);
  const snapshot = parseBootstrap(answer.headers['content-encoding'] === 'gzip' ? body : body.toString());
  return { userId, query, snapshot };
}

/** Every action after the snapshot for its groups; null when the person gained or lost a group meanwhile. */
async function actionsAfter(sync: TestSyncService, { userId, snapshot }: Taken): Promise<SyncAction[] | null> {
  const { lastSyncId, subscribedSyncGroups } = snapshot.metadata;
  const { rows } = await sync.sql.query(
    `select 1 from sync.sync_actions where group_id = $1 and sync_id > $2 and action in ('INSERT', 'DELETE')
       and model in ('WorkspaceMember', 'ProjectMember')`,
    [userId, lastSyncId],
  );
  if (rows.length > 0 || subscribedSyncGroups.length === 0) return null;
  const actions: SyncAction[] = [];
  for (let after = lastSyncId; ;) {
    const query = { after, actions: 'words', limit: '100', syncGroups: subscribedSyncGroups.join(',') };
    const path = `/sync/deltas?${new URLSearchParams(query).toString()}`;
    const answer = await sync.call(path, { principal: caller(userId) });
    assert.equal(answer.status, 200);
    const page = (await answer.json()) as { actions: SyncAction[]; lastSyncId: string; hasMore: boolean };
    actions.push(...page.actions);
    if (!page.hasMore) return actions;
    after = page.lastSyncId;
  }
}

describe('a snapshot and the deltas after it', () => {
  let sync: TestSyncService;
  let compared = 0;
  let engines: TestEngines;
  before(async () => {
    sync = await TestSyncService.open('consistency');
    engines = TestEngines.on({ ...sync.database, drop: async () => {} }, 2);
  });
  after(async () => {
    await engines[Symbol.asyncDispose]();
    await sync[Symbol.asyncDispose]();
  });

  it('give the final state for every person, whatever others change meanwhile [sync.bootstrap.snapshot]', async () => {
    const property = fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 32 - 1 }), run);
    for (let runs = 0; runs < 3 && compared < 10; runs += 1) await fc.assert(property, { numRuns: 1 });
    assert.ok(compared >= 10, `${compared} snapshots could be compared`);
  }).timeout(120_000);

  async function run(seed: number): Promise<void> {
    const roll = dice(seed);
    const cast = await newCast(engines, roll);
    const taken: Taken[] = [];
    const change = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1) await engines.any.commit([anyUnit(cast, roll)]);
    };
    const read = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1) taken.push(await take(sync, cast, roll));
    };
    await Promise.all([change(40), change(40), change(40), read(12), read(12)]);
    await engines.sweep();

    for (const one of taken) {
      const actions = await actionsAfter(sync, one);
      if (actions === null) continue;
      const requested = new Set(one.query['onlyModels']?.split(',').filter(Boolean));
      const state = stateOf(one.snapshot);
      for (const action of actions) if (requested.size === 0 || requested.has(action.modelName)) apply(state, action);
      const last = await sync.bootstrap(one.userId, one.query);
      assert.deepEqual(last.metadata.subscribedSyncGroups, one.snapshot.metadata.subscribedSyncGroups);
      const expected = stateOf(last);
      assert.deepEqual(Object.fromEntries(state), Object.fromEntries(expected), JSON.stringify(one.query));
      compared += 1;
    }
    for (const { id } of cast.people) await compareWithTables(id);
  }

  /** The expected result, by SQL that does not use the predicate of the service. */
  async function compareWithTables(userId: string): Promise<void> {
    const { metadata, rows } = await sync.bootstrap(userId);
    const groups = new Set(metadata.subscribedSyncGroups);
    const { rows: memberships } = await sync.sql.query<{ group: string }>(
      `select workspace_id as group from sync.workspace_members where user_id = $1 union
       select m.project_id from sync.project_members m join sync.projects p on p.id = m.project_id
       where m.user_id = $1 and (p.record->>'isPrivate')::boolean`,
      [userId],
    );
    assert.deepEqual(groups, new Set([userId, ...memberships.map(({ group }) => group)]));
    const expected: string[] = [];
    for (const { name, table } of MODELS) {
      const { rows: all } = await sync.sql.query<{ id: string; group_id: string }>(
        `select id, group_id from sync.${table}`,
      );
      const { rows: audiences } = await sync.sql.query<{ user_id: string; group_id: string }>(
        'select user_id, group_id from sync.user_audiences union all select user_id, group_id from sync.frozen_people',
      );
      const seen = new Set(audiences.filter(({ group_id }) => groups.has(group_id)).map(({ user_id }) => user_id));
      for (const { id, group_id } of all)
        if (name === 'User' ? seen.has(id) : groups.has(group_id)) expected.push(key(name, id));
    }
    assert.deepEqual(rows.map(({ __class, id }) => key(String(__class), String(id))).sort(), expected.sort());
  }
});
