import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MODELS, modelNamed, snakeCase } from '@wts/models';
import { eventually } from '@wts/testkit';
import { assertLogIsState } from '../../test/fold.ts';
import { TestEngines, change, type TestPerson } from '../../test/test-engines.ts';
import type { Unit, UnitOutcome } from '../decision/unit.ts';

/*
 * Two changes that must not both be decided on the old state, sent concurrently through different replicas, many times. In any
 * order, afterwards every record has the location of its parent, and the log is equal to the tables.
 */
describe('concurrent changes of the same records', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  const ROUNDS = 5;

  before(async () => ({ engines, owner, workspace } = await TestEngines.withOwner('races', 3)));
  after(() => engines[Symbol.asyncDispose]());
  afterEach(async () => {
    await assertLogIsState(await engines.entries(), engines.pool);
    assert.deepEqual(await astray(), []);
  });

  /** Records that are not in the group of their parent, or whose parent is deleted. */
  async function astray(): Promise<string[]> {
    const found: string[] = [];
    for (const model of MODELS) {
      for (const [field, { reference }] of Object.entries(model.fields)) {
        if (!reference || reference.many || reference.onDelete === 'keep') continue;
        const { rows } = await engines.pool.query<{ id: string }>(
          `select t.id from sync.${model.table} t left join sync.${modelNamed(reference.model).table} p on p.id = t.${snakeCase(field)}
           where t.${snakeCase(field)} is not null and (p.id is null or (p.group_id <> t.group_id and $1))`,
          [reference.onDelete === 'delete' && reference.model !== 'Workspace'],
        );
        found.push(...rows.map(({ id }) => `${model.name} ${id} by ${field}`));
      }
    }
    return found;
  }

  const home = (): { workspaceId: string } => ({ workspaceId: workspace });
  let count = 0;
  const project = (more: object = {}): Promise<string> =>
    owner.make('Project', { ...home(), key: `R${(count += 1)}`, name: 'Project', ...more });
  /** Sends each unit through a replica of its own, the first one randomly a moment before or after. */
  const concurrently = (...units: readonly Unit[]): Promise<UnitOutcome[]> =>
    Promise.all(units.map((unit, index) => engines.send(unit, engines.all[index % 3])));
  const insert = (model: string, payload: object): Unit =>
    owner.unit(change('INSERT', model, randomUUID(), { ...home(), ...payload }));

  it('labels that are added and removed concurrently are all added and all removed [sync.mutate.set-changes]', async () => {
    const labels = await Promise.all(
      Array.from({ length: 12 }, () => owner.make('Label', { ...home(), name: 'L', color: '#aabbcc' })),
    );
    const [removed, added] = [labels.slice(0, 6), labels.slice(6)];
    const task = await owner.make('Task', { ...home(), title: 'T', labelIds: removed });
    const outcomes = await concurrently(
      ...added.map((id) => owner.unit(change('UPDATE', 'Task', task, { addedLabelIds: [id] }))),
      ...removed.map((id) => owner.unit(change('UPDATE', 'Task', task, { removedLabelIds: [id] }))),
    );
    assert.ok(outcomes.every(({ ok }) => ok));
    const { rows } = await engines.pool.query<{ ids: string[] }>(
      'select label_ids as ids from sync.tasks where id = $1',
      [task],
    );
    assert.deepEqual(rows[0]!.ids.toSorted(), added.toSorted());
  });

  it('a label that is added of another workspace is not found [sync.mutate.set-changes]', async () => {
    const task = await owner.make('Task', { ...home(), title: 'T' });
    const elsewhere = await engines.workspace(owner);
    const label = await owner.make('Label', { workspaceId: elsewhere, name: 'L', color: '#aabbcc' });
    const outcome = await engines.send(owner.unit(change('UPDATE', 'Task', task, { addedLabelIds: [label] })));
    assert.deepEqual(outcome, { ok: false, code: 'not_found', error: 'labelIds: Label not found' });
  });

  it('a task moves into a project that becomes private', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const projectId = await project();
      const taskId = await owner.make('Task', { ...home(), title: 'There' });
      const outcomes = await concurrently(
        owner.unit(change('UPDATE', 'Project', projectId, { isPrivate: true })),
        insert('Task', { title: 'New', projectId }),
        owner.unit(change('UPDATE', 'Task', taskId, { projectId })),
        insert('Task', { title: 'New too', projectId }),
      );
      assert.ok(outcomes.every(({ ok }) => ok));
    }
  });

  it('a comment is added to a task that moves or is deleted', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const hidden = await project({ isPrivate: true });
      const [moving, going] = [
        await owner.make('Task', { ...home(), title: 'M' }),
        await owner.make('Task', { ...home(), title: 'D' }),
      ];
      const comment = await owner.make('Comment', { ...home(), taskId: moving, body: 'Before' });
      const outcomes = await concurrently(
        owner.unit(change('UPDATE', 'Task', moving, { projectId: hidden })),
        insert('Comment', { taskId: moving, body: 'While' }),
        owner.unit(change('UPDATE', 'Comment', comment, { body: 'Edited' })),
        owner.unit(change('DELETE', 'Task', going)),
        insert('Comment', { taskId: going, body: 'Late?' }),
        insert('TaskChecklistItem', { taskId: going, title: 'Late?' }),
      );
      assert.deepEqual(
        outcomes.slice(0, 4).map(({ ok }) => ok),
        [true, true, true, true],
      );
    }
  });

  it('a comment gets a reply while its deletion waits for an older reply', async () => {
    const taskId = await owner.make('Task', { ...home(), title: 'T' });
    const said = await owner.make('Comment', { ...home(), taskId, body: 'Said' });
    const older = await owner.make('Comment', { ...home(), taskId, parentId: said, body: 'Older' });
    const holder = await engines.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select id from sync.comments where id = $1 for update', [older]);
      const deletion = engines.send(owner.unit(change('DELETE', 'Comment', said)), engines.all[1]);
      // The first try gives up; the next one waits for the lock.
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '0.2 s'`;
      await eventually(async () => (await engines.pool.query(waits)).rows.length > 0);
      const answer = insert('Comment', { taskId, parentId: said, body: 'Newer' });
      assert.ok((await engines.send(answer, engines.all[2])).ok);
      await holder.query('rollback');
      assert.ok((await deletion).ok);
    } finally {
      holder.release();
    }
  });

  it('a label is added to tasks and a team is set while both are deleted', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [label, team] = [
        await owner.make('Label', { ...home(), name: 'L' }),
        await owner.make('Team', { ...home(), key: `T${round}`, name: 'T' }),
      ];
      const task = await owner.make('Task', { ...home(), title: 'T' });
      await concurrently(
        insert('Task', { title: 'Labeled', labelIds: [label], teamId: team }),
        owner.unit(change('UPDATE', 'Task', task, { labelIds: [label] })),
        owner.unit(change('DELETE', 'Label', label)),
        insert('Project', { key: `T${round}-${count}`, name: 'P', teamId: team }),
        owner.unit(change('DELETE', 'Team', team)),
      );
      const { rows } = await engines.pool.query('select id from sync.tasks where $1 = any(label_ids)', [label]);
      assert.deepEqual(rows, []);
    }
  });

  it('a project is deleted while tasks are added and while it becomes private', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const projectId = await project();
      const comes = await owner.make('Task', { ...home(), title: 'Comes' });
      for (let n = 0; n < 3; n += 1) await owner.make('Task', { ...home(), title: 'In', projectId });
      await concurrently(
        owner.unit(change('DELETE', 'Project', projectId)),
        owner.unit(change('UPDATE', 'Project', projectId, { isPrivate: true })),
        owner.unit(change('UPDATE', 'Task', comes, { projectId })),
        insert('Task', { title: 'New', projectId }),
        insert('ProjectMember', { projectId, userId: owner.id }),
      );
    }
  });

  it('a person who leaves a workspace while they are added to a private project and a team is in neither [sync.private-project.walls]', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const leaver = await engines.join(workspace, 'member');
      const [hidden, team] = [
        await project({ isPrivate: true }),
        await owner.make('Team', { ...home(), key: `L${round}`, name: 'T' }),
      ];
      const membership = await engines.membershipOf(workspace, leaver);
      const outcomes = await concurrently(
        leaver.unit(change('DELETE', 'WorkspaceMember', membership)),
        owner.unit(change('INSERT', 'ProjectMember', randomUUID(), { projectId: hidden, userId: leaver.id })),
        owner.unit(change('INSERT', 'TeamMember', randomUUID(), { teamId: team, userId: leaver.id })),
        leaver.unit(
          change('INSERT', 'Project', randomUUID(), { ...home(), key: `LV${round}`, name: 'Own', isPrivate: true }),
        ),
      );
      assert.ok(outcomes[0]?.ok);
      assert.deepEqual(await leaver.groups(), new Set([leaver.id]));
      for (const table of ['team_members', 'project_members']) {
        const left = await engines.pool.query(`select id from sync.${table} where user_id = $1`, [leaver.id]);
        assert.deepEqual(left.rows, [], table);
      }
    }
  });

  it('a person changes their name while they join workspaces', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const person = await engines.person('Before');
      const joining = (id: string): Unit => ({
        ...person.unit(
          change('INSERT', 'WorkspaceMember', randomUUID(), { workspaceId: id, userId: person.id, role: 'guest' }),
        ),
        authority: 'service',
      });
      const other = await engines.workspace(owner);
      const outcomes = await concurrently(
        joining(workspace),
        person.unit(change('UPDATE', 'User', person.id, { name: 'After' })),
        joining(other),
        joining(workspace),
      );
      assert.deepEqual(outcomes.map(({ ok }) => ok).filter(Boolean).length, 3);
    }
  });

  it('several people move the same tasks between public and private projects', async () => {
    const projects = [
      await project(),
      await project({ isPrivate: true }),
      await project(),
      await project({ isPrivate: true }),
      null,
    ];
    const tasks: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const taskId = await owner.make('Task', { ...home(), title: 'T' });
      await owner.make('Comment', { ...home(), taskId, body: 'C' });
      tasks.push(taskId);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const units = tasks.map((id, index) =>
        owner.unit(change('UPDATE', 'Task', id, { projectId: projects[(round + index) % 5] })),
      );
      const flip = owner.unit(change('UPDATE', 'Project', projects[round % 4]!, { isPrivate: round % 3 === 0 }));
      const outcomes = await concurrently(
        ...units,
        flip,
        ...units.map(({ mutations }) => owner.unit({ ...mutations[0]!, payload: { projectId: projects[round % 5] } })),
      );
      assert.deepEqual(
        outcomes.filter(({ ok }) => !ok),
        [],
      );
    }
  });
});
