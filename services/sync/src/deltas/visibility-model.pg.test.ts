import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DeltasReply } from '@wts/contracts';
import { eventually, socketOf, type LiveSocket } from '@wts/testkit';
import { Project, Task } from '@wts/models';
import { GroupCache } from '@wts/read-model';
import * as fc from 'fast-check';
import { GroupsModel } from '../../test/groups-model.ts';
import { openTestReplica, type TestReplica } from '../../test/replica.ts';
import { TestEngines, membership, refused, type TestPerson } from '../../test/test-engines.ts';
import { LIST_WINDOW } from '../store/list-windows.ts';
import { runStatements, type Statement } from '../store/prepared.ts';
import { raiseFloor } from '../store/retention.ts';
import { selectVisibleRows } from '../store/rows.ts';
import { deltasSources, readDeltas } from './read-deltas.ts';

/** `VISIBILITY_RUNS=1000` runs for hours. */
const RUNS = Number(process.env['VISIBILITY_RUNS'] ?? 1);
const STEPS = 30;

const NO_ID = '00000000-0000-0000-0000-000000000000';

interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

const KINDS = [
  'join',
  'leave',
  'project',
  'toggle',
  'toggle',
  'admit',
  'dismiss',
  'delete',
  'reuse',
  'work',
  'work',
  'work',
  'trim',
  'read',
] as const;

class Scenario {
  readonly model: GroupsModel;
  readonly #replica: TestReplica;
  readonly #groupCache = new GroupCache();
  readonly #sockets = new Map<string, { socket: LiveSocket; at: bigint; received: number }>();
  readonly #cursors = new Map<string, bigint>();

  constructor(model: GroupsModel, replica: TestReplica) {
    this.model = model;
    this.#replica = replica;
    for (const { id } of model.people) this.#cursors.set(id, model.head);
  }

  async connect(): Promise<void> {
    for (const { id } of this.model.people) {
      const socket = await socketOf(this.#replica, { token: id, after: String(this.model.head) });
      this.#sockets.set(id, { socket, at: this.model.head, received: 0 });
    }
  }

  async close(): Promise<void> {
    for (const { socket } of this.#sockets.values()) await socket[Symbol.asyncDispose]();
  }

  async step({ kind, a, b, c }: Step): Promise<void> {
    const { model } = this;
    const { people, workspaces, projects } = model;
    const [owner, ...others] = people as [TestPerson, ...TestPerson[]];
    const home = workspaces[a % workspaces.length]!;
    const other = others[b % others.length]!;
    const alive = [...projects].filter(([, { isDeleted }]) => !isDeleted);
    const [id, project] = alive[c % Math.max(1, alive.length)] ?? [];
    const inside = model.members.get(home)!;
    switch (kind) {
      case 'join': {
        if (inside.has(other.id)) return;
        const row = randomUUID();
        inside.set(other.id, row);
        return model.run(() => model.engines.decided(other.id, membership(home, other.id, 'member', row)));
      }
      case 'leave': {
        const row = inside.get(other.id);
        if (row === undefined) return;
        inside.delete(other.id);
        for (const one of projects.values()) if (one.home === home) one.members.delete(other.id);
        return model.run(() => owner.delete('WorkspaceMember', row));
      }
      case 'project': {
        const made = randomUUID();
        const isPrivate = c % 3 > 0;
        projects.set(made, { home, isPrivate, isDeleted: false, members: new Map(isPrivate ? [[owner.id, '']] : []) });
        const payload = { workspaceId: home, key: made.slice(0, 8), name: 'P', isPrivate };
        return model.run(() => owner.make('Project', payload, made));
      }
      case 'toggle': {
        if (!id || !project) return;
        project.isPrivate = !project.isPrivate;
        if (project.isPrivate && !project.members.has(owner.id)) project.members.set(owner.id, '');
        return model.run(() => owner.change('Project', id, { isPrivate: project.isPrivate }));
      }
      case 'admit': {
        if (!id || !project || project.members.has(other.id) || !model.members.get(project.home)?.has(other.id)) return;
        const row = randomUUID();
        project.members.set(other.id, row);
        return model.run(() => owner.make('ProjectMember', { projectId: id, userId: other.id }, row));
      }
      case 'dismiss': {
        const row = project?.members.get(other.id);
        if (!row) return;
        project?.members.delete(other.id);
        return model.run(() => owner.delete('ProjectMember', row));
      }
      case 'delete': {
        if (!id || !project || a % 2 === 0) return;
        project.isDeleted = true;
        return model.run(() => owner.delete('Project', id));
      }
      case 'reuse':
        return this.#reuse(
          [other.id, home, ...projects.keys()][c % (2 + projects.size)]!,
          others[a % others.length]!,
          home,
        );
      case 'work':
        return this.#work(b % 3 === 0 ? null : (id ?? null), home, c % 3 === 0);
      case 'trim':
        return this.#trim((a * 7 + b) % 40);
      case 'read':
        return this.#readAndCompare(people[a % people.length]!, b, 1 + (c % 9));
    }
  }

  async #work(projectId: string | null, home: string, isBrief: boolean): Promise<void> {
    const { model } = this;
    const owner = model.people[0]!;
    const payload = { workspaceId: model.projects.get(projectId ?? '')?.home ?? home, projectId, title: 'T' };
    return model.run(async () => {
      const made = await owner.try('INSERT', 'Task', randomUUID(), payload);
      if (made.ok && isBrief) await owner.delete('Task', made.mutations[0]!.modelId);
    });
  }

  async #reuse(id: string, by: TestPerson, home: string): Promise<void> {
    const payload = { workspaceId: home, key: 'AGAIN', name: 'P', isPrivate: true };
    const outcome = await by.try('INSERT', 'Project', id, payload);
    assert.match(refused(outcome).error, /with this id already exists|Workspace not found/);
  }

  /** Trims the log up to a few entries before its head. Readers below the floor load again and continue from the head. */
  async #trim(behind: number): Promise<void> {
    const { model } = this;
    const floor = await model.engines.log.before(behind);
    if (floor <= model.floor) return;
    model.floor = floor;
    await raiseFloor(model.engines.pool, floor);
    await model.engines.pool.query('delete from sync.sync_actions where sync_id < $1', [floor.toString()]);
  }

  /** Reads pages from any cursor, of any size, with any credential; or continues from the person's last cursor. */
  async #readAndCompare(person: TestPerson, back: number, limit: number): Promise<void> {
    const { model } = this;
    const { id } = person;
    const only = back % 3 === 0 ? model.workspaces[back % model.workspaces.length] : undefined;
    const recent = BigInt(model.entries.at(-(back % 60))?.syncId ?? 0);
    for (const after of [recent, this.#cursors.get(id)!]) {
      const from = after < model.floor ? model.floor : after;
      assert.deepEqual(await this.#pages(id, from, limit, only), model.shown(id, from, only));
    }
    this.#cursors.set(id, model.head);
    await this.#compareCommit(person);
  }

  /** The commit has the same rule: which rows it reads for a person, which are in a list of theirs, and which they may name. */
  async #compareCommit(person: TestPerson): Promise<void> {
    const { engines, projects, people, workspaces } = this.model;
    const groups = this.model.groupsOf(person.id);
    const run = async (statement: Statement): Promise<string[]> => {
      const client = await engines.checks.connect();
      const [result] = await runStatements(client, [statement]).finally(() => client.release());
      return (result!.rows as { id: string }[]).map(({ id }) => id).sort();
    };
    const text = 'select id, group_id as group from sync.tasks where workspace_id = any($1) order by id';
    const { rows: tasks } = await engines.checks.query<{ id: string; group: string }>(text, [workspaces]);
    const ids = tasks.map(({ id }) => id);
    const expected = tasks.filter(({ group }) => person === people[0] || groups.has(group)).map(({ id }) => id);
    assert.deepEqual(await run(selectVisibleRows(Task, 'refer').with(ids, [person.id])), expected);
    const alive = [...projects].filter(([, { isDeleted }]) => !isDeleted);
    const shown = alive.filter(([id, { home, isPrivate }]) => groups.has(isPrivate ? id : home)).map(([id]) => id);
    for (const home of workspaces.filter((id) => groups.has(id))) {
      const inHome = shown.filter((id) => projects.get(id)?.home === home).sort();
      assert.deepEqual(await run(LIST_WINDOW(Project, '').with(home, '', NO_ID, person.id)), inHome);
    }
    for (const [id] of alive) {
      const outcome = await person.try('UPDATE', 'Project', id, { name: 'P' });
      assert.equal(outcome.ok || outcome.code !== 'not_found', shown.includes(id));
    }
  }

  async #pages(userId: string, from: bigint, limit: number, workspaceId?: string): Promise<string[]> {
    const read: string[] = [];
    for (let after = from, hasMore = true; hasMore;) {
      const request = { userId, workspaceId, after, limit, requested: new Set<string>(), spelling: 'words' } as const;
      const sources = deltasSources(this.model.engines.pool, null, this.#groupCache);
      const page = JSON.parse(await readDeltas(sources, request)) as DeltasReply;
      read.push(...page.actions.map(({ syncId }) => syncId));
      after = BigInt(page.lastSyncId);
      ({ hasMore } = page);
    }
    return read;
  }

  /** Checks that each socket received exactly the entries for its person since the last check. */
  async checkSockets(): Promise<void> {
    const { model } = this;
    for (const [id, one] of this.#sockets) {
      await eventually(() => BigInt(one.socket.cursor()) >= model.head);
      const received = one.socket.actions.slice(one.received).map(({ syncId }) => syncId);
      one.received += received.length;
      assert.deepEqual(
        received,
        [...new Set(received)].sort((x, y) => Number(BigInt(x) - BigInt(y))),
      );
      assert.deepEqual(
        received.filter((syncId) => !model.wasFor(id, syncId)),
        [],
        'entries of a time when the person was not in the group',
      );
      const missing = model.shown(id, one.at).filter((syncId) => !received.includes(syncId));
      assert.deepEqual(missing, []);
      one.at = model.head;
    }
  }
}

describe('the readers of an entry', function () {
  this.timeout(20_000 + 20_000 * RUNS);

  it('were in its group when it was written and have not gained the group again since, in pages, on sockets and for the commit alike [sync.membership.from-gain, sync.membership.in-order, never.shown-outside]', async () => {
    // Small, so that cascades become sweeps.
    await using engines = await TestEngines.open('visibility_model', 2, { recordsMax: 8 });
    await using replica = await openTestReplica({
      pool: engines.pool,
      pollMs: 5,
      ring: { bytesMax: 20_000, ageMs: 60_000 },
      limits: { watermarkMs: 10, tickMs: 5 },
    });
    const step = fc.record({ kind: fc.constantFrom(...KINDS), a: fc.nat(1000), b: fc.nat(1000), c: fc.nat(1000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), async (steps) => {
        const scenario = await begin(engines, replica);
        try {
          for (const one of steps) {
            await scenario.step(one);
            await scenario.checkSockets();
          }
          for (const [index] of scenario.model.people.entries())
            await scenario.step({ kind: 'read', a: index, b: 1, c: 4 });
        } finally {
          await scenario.close();
          await engines.pool.query('update sync.log_state set floor = 0');
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});

async function begin(engines: TestEngines, replica: TestReplica): Promise<Scenario> {
  const people = [await engines.person('Owner')];
  const members = new Map<string, Map<string, string>>();
  for (let count = 0; count < 2; count += 1)
    members.set(await engines.workspace(people[0]!), new Map([[people[0]!.id, '']]));
  for (const name of ['Ada', 'Bob', 'Cyd']) people.push(await engines.person(name));
  const scenario = new Scenario(new GroupsModel(engines, people, members, await engines.head()), replica);
  await scenario.connect();
  // So that most changes find a record.
  for (const count of [0, 1, 2, 3]) {
    await scenario.step({ kind: 'join', a: count, b: count, c: 0 });
    await scenario.step({ kind: 'project', a: count, b: 0, c: count });
    await scenario.step({ kind: 'admit', a: 0, b: count, c: count });
  }
  await scenario.checkSockets();
  return scenario;
}
