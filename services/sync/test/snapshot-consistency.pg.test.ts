import type { ActionName, SyncAction } from '@wts/contracts';
import { MODELS } from '@wts/models';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { caller, parseBootstrap, TestSyncService, type Bootstrap } from './test-sync-service.ts';

type State = Map<string, Record<string, unknown>>;

/** Random numbers below `bound`, the same for the same seed. */
type Dice = (bound: number) => number;

function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

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

interface Change {
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly payload?: object;
}

/** People who make random changes of everything that visibility depends on, in parallel. */
class RandomWriters {
  readonly #sync: TestSyncService;
  readonly #dice: Dice;
  readonly people: readonly string[];
  readonly workspaces: readonly string[];
  /** The people whose groups change; those of the others do not, so that their snapshots can be compared. */
  movers: readonly string[];
  readonly #ids = new Map<string, string[]>();

  constructor(sync: TestSyncService, dice: Dice, people: readonly string[], workspaces: readonly string[]) {
    this.#sync = sync;
    this.#dice = dice;
    this.people = people;
    this.movers = people;
    this.workspaces = workspaces;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#dice(list.length)] as T;
  }

  some(modelName: string): string {
    return this.pick(this.#ids.get(modelName) ?? []) ?? randomUUID();
  }

  /** One random change by a random person. Some are refused. */
  async change(): Promise<void> {
    const workspaceId = this.pick(this.workspaces);
    const userId = this.pick(this.people);
    const mover = this.pick(this.movers);
    switch (this.#dice(14)) {
      case 0:
      case 1:
        return this.#insert(userId, 'Task', { workspaceId, title: 'Task', projectId: this.#maybe('Project') });
      case 2:
        return this.#insert(userId, 'Comment', { workspaceId, taskId: this.some('Task'), body: 'Comment' });
      case 3:
        return this.#insert(userId, 'TaskChecklistItem', { workspaceId, taskId: this.some('Task'), title: 'Item' });
      case 4: {
        const isPrivate = this.#dice(2) === 0;
        return this.#insert(mover, 'Project', { workspaceId, key: randomUUID().slice(0, 8), name: 'P', isPrivate });
      }
      case 5:
        return this.#update(mover, 'Project', this.some('Project'), { isPrivate: this.#dice(2) === 0 });
      case 6:
        return this.#update(userId, 'Task', this.some('Task'), { projectId: this.#maybe('Project') });
      case 7:
        return this.#update(userId, 'Task', this.some('Task'), { title: `Title ${this.#dice(1000)}` });
      case 8:
        return void (await this.#mutateTask(userId, this.pick(['ARCHIVE', 'UNARCHIVE'])));
      case 9:
        return void (await this.#mutateTask(userId, 'DELETE'));
      case 10:
        return this.#insert(userId, 'ProjectMember', { projectId: this.some('Project'), userId: mover });
      case 11:
        return this.#leave('project_members', 'ProjectMember', mover);
      case 12:
        return this.#update(userId, 'User', userId, { name: `Name ${this.#dice(1000)}` });
      default:
        if (this.#dice(2) === 0) return this.#leave('workspace_members', 'WorkspaceMember', this.people.at(-1) ?? '');
        return void (await this.#sync.join(this.people.at(-1) ?? '', workspaceId).catch(() => {}));
    }
  }

  async #update(userId: string, modelName: string, modelId: string, payload: object): Promise<void> {
    await this.#mutate(userId, { modelName, modelId, action: 'UPDATE', payload });
  }

  #maybe(modelName: string): string | null {
    return this.#dice(3) === 0 ? null : this.some(modelName);
  }

  async #insert(userId: string, modelName: string, payload: Record<string, unknown>): Promise<void> {
    const modelId = randomUUID();
    if (await this.#mutate(userId, { modelName, modelId, action: 'INSERT', payload: { id: modelId, ...payload } }))
      this.#ids.set(modelName, [...(this.#ids.get(modelName) ?? []), modelId]);
  }

  #mutateTask(userId: string, action: ActionName): Promise<boolean> {
    return this.#mutate(userId, { modelName: 'Task', modelId: this.some('Task'), action });
  }

  async #mutate(userId: string, change: Change): Promise<boolean> {
    const transaction = { clientId: userId, clientTxId: randomUUID(), payload: {}, ...change };
    const body = { batchId: randomUUID(), transactions: [transaction] };
    const answer = await this.#sync.call('/sync/mutate', { principal: caller(userId), body });
    assert.equal(answer.status, 200);
    return ((await answer.json()) as { success: boolean }).success;
  }

  /** Removes a person from one of their workspaces or projects. */
  async #leave(table: string, modelName: string, userId: string): Promise<void> {
    const { rows } = await this.#sync.sql.query<{ id: string }>(`select id from sync.${table} where user_id = $1`, [
      userId,
    ]);
    if (rows.length > 0) await this.#mutate(userId, { modelName, modelId: this.pick(rows).id, action: 'DELETE' });
  }
}

async function take(sync: TestSyncService, writers: RandomWriters, dice: Dice): Promise<Taken> {
  const userId = writers.pick(writers.people);
  const query: Record<string, string> = {};
  if (dice(3) === 0)
    query['onlyModels'] = MODELS.filter(() => dice(2) === 0)
      .map(({ name }) => name)
      .join(',');
  if (dice(3) === 0) {
    const named = [writers.pick(writers.workspaces), writers.some('Project'), ...(dice(2) === 0 ? [userId] : [])];
    query['syncGroups'] = named.join(',');
  }
  const path = `/sync/bootstrap?${new URLSearchParams(query).toString()}`;
  const headers: Record<string, string> = dice(2) === 0 ? { 'accept-encoding': 'gzip' } : {};
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
  before(async () => (sync = await TestSyncService.open('consistency')));
  after(() => sync[Symbol.asyncDispose]());

  it('give the final state for every person, whatever others change meanwhile [sync.bootstrap.snapshot]', async () => {
    const property = fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 32 - 1 }), run);
    for (let runs = 0; runs < 3 && compared < 10; runs += 1) await fc.assert(property, { numRuns: 1 });
    assert.ok(compared >= 10, `${compared} snapshots could be compared`);
  }).timeout(120_000);

  async function run(seed: number): Promise<void> {
    const dice = diceOf(seed);
    const people = await Promise.all(['Ada', 'Bob', 'Eve', 'Joe', 'Guest'].map((name) => sync.person(name)));
    const [ada = '', bob = '', ...others] = people;
    const workspaces = [await sync.workspace(ada), await sync.workspace(bob)];
    for (const userId of others) for (const workspaceId of workspaces) await sync.join(userId, workspaceId, 'admin');
    const writers = new RandomWriters(sync, dice, people, workspaces);
    for (let index = 0; index < 40; index += 1) await writers.change();
    writers.movers = people.slice(-2);

    const taken: Taken[] = [];
    const change = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1) await writers.change();
    };
    const read = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1) taken.push(await take(sync, writers, dice));
    };
    await Promise.all([change(30), change(30), change(30), read(10), read(10)]);

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
    for (const userId of people) await compareWithTables(userId);
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
