import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ActionName } from '@wts/contracts';
import { modelNamed } from '@wts/models';
import { GroupReader } from '@wts/read-model';
import { sharedEngines } from '../../test/shared-engines.ts';
import { applied, change, membership, only, refused } from '../../test/test-engines.ts';
import type { TestEngines, TestPerson } from '../../test/test-engines.ts';
import type { UnitOutcome } from '../decision/unit.ts';

/*
 * A record that the caller may not see is refused like one that does not exist: every mutation is sent twice, with the id of an
 * existing record and with a random id, and both refusals must be the same.
 */
describe('a record that the caller may not see', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let insider: TestPerson;
  let admin: TestPerson;
  let member: TestPerson;
  let outsider: TestPerson;
  let workspace: string;
  let elsewhere: string;
  const there: Record<string, string> = {};
  const hidden: Record<string, string> = {};

  before(async () => {
    engines = await sharedEngines();
    [owner, outsider] = [await engines.person(), await engines.person()];
    workspace = await engines.workspace(owner);
    elsewhere = await engines.workspace(outsider);
    insider = await engines.join(workspace, 'member');
    admin = await engines.join(workspace, 'admin');
    member = await engines.join(workspace, 'member');
    await fill(there, owner, { key: 'OPEN', name: 'Open' });
    await fill(hidden, insider, { key: 'SECRET', name: 'Secret', isPrivate: true });
  });

  async function fill(ids: Record<string, string>, by: TestPerson, project: Record<string, unknown>): Promise<void> {
    const workspaceId = workspace;
    ids['Workspace'] = workspace;
    ids['User'] = insider.id;
    ids['WorkspaceMember'] = await engines.membershipOf(workspace, by);
    ids['Project'] = await by.make('Project', { workspaceId, ...project });
    ids['Task'] = await by.make('Task', { workspaceId, title: 'Task', projectId: ids['Project'] });
    ids['TaskChecklistItem'] = await by.make('TaskChecklistItem', { workspaceId, taskId: ids['Task'], title: 'Step' });
    ids['Comment'] = await by.make('Comment', { workspaceId, taskId: ids['Task'], body: 'Said' });
    ids['Team'] = await owner.make('Team', { workspaceId, key: String(project['key']), name: 'Team' });
    ids['Label'] = await owner.make('Label', { workspaceId, name: 'Label' });
    ids['TeamMember'] = await owner.make('TeamMember', { teamId: ids['Team'], userId: insider.id });
    ids['ProjectMember'] =
      project['isPrivate'] === true
        ? await engines.membershipOf(ids['Project'], by, 'project')
        : await owner.make('ProjectMember', { projectId: ids['Project'], userId: insider.id });
  }

  /** Sends the mutation with the id of an existing record and with a random id; returns the refusal, which must be the same. */
  async function probe(
    by: TestPerson,
    action: ActionName,
    model: string,
    { id, payload }: { readonly id: string; readonly payload: (id: string) => object },
  ) {
    const head = await engines.head();
    const send = (named: string): Promise<UnitOutcome> =>
      by.try(action, model, action === 'INSERT' ? randomUUID() : named, { ...payload(named) });
    const [real, none] = [await send(id), await send(randomUUID())];
    assert.deepEqual(real, none, `${action} ${model} ${JSON.stringify(payload(id))}`);
    assert.equal(refused(real).code, 'not_found');
    assert.equal(await engines.head(), head);
    return refused(real);
  }

  const patches: Record<string, object> = {
    User: { name: 'Mallory' },
    WorkspaceMember: { role: 'guest' },
    Task: { title: 'Mine' },
    TaskChecklistItem: { title: 'Mine' },
    Comment: { body: 'Mine' },
    Label: { name: 'Mine' },
  };
  const inside = ['Project', 'Task', 'TaskChecklistItem', 'Comment'];

  it('in another workspace cannot be changed, archived or deleted, and is refused like one that does not exist [sync.mutate.outsider]', async () => {
    for (const model of Object.keys(there))
      for (const action of ['UPDATE', 'ARCHIVE', 'UNARCHIVE', 'DELETE'] as const) {
        const payload = (): object => patches[model] ?? { name: 'Mine' };
        const { error } = await probe(outsider, action, model, { id: there[model]!, payload });
        assert.equal(error, `${model} not found`);
      }
  });

  it('in a private project cannot be changed or deleted by other members of the workspace, owners included [sync.private-project.walls]', async () => {
    for (const by of [member, admin, owner])
      for (const model of inside)
        for (const action of ['UPDATE', 'ARCHIVE', 'DELETE'] as const)
          await probe(by, action, model, { id: hidden[model]!, payload: () => patches[model] ?? { name: 'Mine' } });
  });

  it('cannot be named as a parent, a reference or a workspace', async () => {
    const into = (extra: object) => ({ workspaceId: workspace, ...extra });
    const probes: [TestPerson, string, (id: string) => object, string][] = [
      [outsider, 'Task', (id) => ({ workspaceId: id, title: 'x' }), workspace],
      [outsider, 'Label', (id) => ({ workspaceId: id, name: 'x' }), workspace],
      [outsider, 'Project', (id) => ({ workspaceId: id, key: 'X', name: 'x' }), workspace],
      [outsider, 'Project', (id) => ({ workspaceId: id, key: 'X', name: 'x', isPrivate: true }), workspace],
      [outsider, 'TeamMember', (id) => ({ teamId: id, userId: outsider.id }), there['Team']!],
      [outsider, 'ProjectMember', (id) => ({ projectId: id, userId: outsider.id }), there['Project']!],
      [outsider, 'Comment', (id) => ({ ...into({}), taskId: id, body: 'x' }), there['Task']!],
    ];
    // The caller sees the workspace and not the reference, or neither of them.
    for (const home of [elsewhere, workspace]) {
      const task = (extra: object) => ({ workspaceId: home, title: 'x', ...extra });
      probes.push(
        [outsider, 'Comment', (id) => ({ workspaceId: home, taskId: id, body: 'x' }), there['Task']!],
        [outsider, 'TaskChecklistItem', (id) => ({ workspaceId: home, taskId: id, title: 'x' }), there['Task']!],
        [outsider, 'Task', (id) => task({ projectId: id }), there['Project']!],
        [outsider, 'Task', (id) => task({ teamId: id }), there['Team']!],
        [outsider, 'Task', (id) => task({ labelIds: [id] }), there['Label']!],
        [outsider, 'Task', (id) => task({ assigneeId: id }), owner.id],
      );
    }
    for (const by of [member, owner])
      probes.push(
        [by, 'Comment', (id) => into({ taskId: id, body: 'x' }), hidden['Task']!],
        [by, 'Comment', (id) => into({ taskId: id, body: 'x', parentId: randomUUID() }), hidden['Task']!],
        [by, 'Comment', (id) => into({ taskId: there['Task'], body: 'x', parentId: id }), hidden['Comment']!],
        [by, 'TaskChecklistItem', (id) => into({ taskId: id, title: 'x' }), hidden['Task']!],
        [by, 'Task', (id) => into({ title: 'x', projectId: id }), hidden['Project']!],
        [by, 'Task', (id) => into({ teamId: randomUUID(), title: 'x', projectId: id }), hidden['Project']!],
      );
    probes.push([member, 'ProjectMember', (id) => ({ projectId: id, userId: member.id }), hidden['Project']!]);
    for (const [by, model, payload, id] of probes) await probe(by, 'INSERT', model, { id, payload });

    const task = await member.make('Task', { workspaceId: workspace, title: 'Own' });
    const answers = [
      await member.try('UPDATE', 'Task', task, { projectId: hidden['Project']! }),
      await member.try('UPDATE', 'Task', task, { projectId: randomUUID() }),
    ];
    assert.deepEqual(answers[0], answers[1]);
    assert.equal(refused(answers[0]!).code, 'not_found');
  });

  it('in another workspace cannot be locked, nor detected by a wait for its writers [never.shown-outside]', async () => {
    const insiders = await engines.pool.connect();
    const projectId = await outsider.make('Project', { workspaceId: elsewhere, key: 'MINE', name: 'Mine' });
    const newcomer = await engines.person();
    try {
      await insiders.query('begin');
      for (const [model, id] of Object.entries(there))
        await insiders.query(`select id from sync.${modelNamed(model).table} where id = $1 for update`, [id]);
      const workspaceId = elsewhere;
      const probes = [
        ...Object.entries(there).map(([model, id]) =>
          outsider.try('UPDATE', model, id, { ...(patches[model] ?? { name: 'Mine' }) }),
        ),
        outsider.try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'x', projectId: there['Project'] }),
        outsider.try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'x', labelIds: [there['Label']] }),
        outsider.try('INSERT', 'Comment', randomUUID(), { workspaceId, taskId: there['Task'], body: 'x' }),
        outsider.try('INSERT', 'ProjectMember', randomUUID(), { projectId, userId: owner.id }),
      ];
      // Also right after a mutation of a service for the caller, which may read everything.
      const [engine] = engines.all;
      const label = outsider.unit(change('INSERT', 'Label', randomUUID(), { workspaceId, name: 'x' }));
      const joining = membership(workspaceId, newcomer.id, 'guest');
      const before = [label, { ...outsider.unit(joining), authority: 'service' as const }].map((unit) =>
        engines.send(unit, engine),
      );
      probes.push(engines.send(outsider.unit(change('UPDATE', 'Task', there['Task']!, { title: 'Mine' })), engine));
      const answers = await Promise.race([Promise.all(probes), delay(10_000, null, { ref: false })]);
      assert.ok(answers, 'waited for rows that are not theirs');
      for (const answer of answers) assert.equal(refused(answer).code, 'not_found');
      for (const answer of await Promise.all(before)) applied(answer);
      // A new record with the id of an invisible one conflicts, and does not wait either.
      const taken = await outsider.try('INSERT', 'Task', there['Task']!, { workspaceId, title: 'x' });
      assert.equal(refused(taken).code, 'conflict');
    } finally {
      await insiders.query('rollback');
      insiders.release();
    }
  });

  it('in a private project cannot be locked by other members, nor detected by a wait for its writers [never.shown-outside]', async () => {
    const insiders = await engines.pool.connect();
    const parts = [...inside, 'ProjectMember'].map((model): [string, string] => [model, hidden[model]!]);
    try {
      await insiders.query('begin');
      for (const [model, id] of parts)
        await insiders.query(`select id from sync.${modelNamed(model).table} where id = $1 for update`, [id]);
      const answers = await Promise.race([
        Promise.all(
          parts.flatMap(([model, id]) => [
            member.try('UPDATE', model, id, { ...(patches[model] ?? { name: 'Mine' }) }),
            member.try('DELETE', model, id),
          ]),
        ),
        delay(5_000, null, { ref: false }),
      ]);
      assert.ok(answers, 'waited for rows that are not theirs');
      for (const answer of answers) assert.equal(refused(answer).code, 'not_found');
    } finally {
      await insiders.query('rollback');
      insiders.release();
    }
  });

  it('in a private project is not revealed by its key, which others may use too until it becomes public [never.shown-outside, sync.private-project.walls]', async () => {
    // The invisible project has this key.
    const key = { workspaceId: workspace, key: 'SECRET', name: 'Open' };
    const taken = await member.make('Project', key);
    const again = refused(await owner.try('INSERT', 'Project', randomUUID(), key));
    assert.equal(again.error, 'Another Project has this key');
    await owner.make('Project', { ...key, isPrivate: true });

    // Its own members are refused when another project has the key.
    const opened = await insider.try('UPDATE', 'Project', hidden['Project']!, { isPrivate: false });
    assert.equal(refused(opened).error, 'Another Project has this key');
    await member.delete('Project', taken);
    applied(await insider.try('UPDATE', 'Project', hidden['Project']!, { isPrivate: false }));
    applied(await insider.try('UPDATE', 'Project', hidden['Project']!, { isPrivate: true }));
  });

  it('is out of reach of a credential for another workspace of the same person', async () => {
    await engines.decided(outsider.id, membership(workspace, outsider.id, 'owner'));
    const limited = outsider.within(elsewhere);
    for (const model of Object.keys(there).filter((name) => name !== 'User'))
      await probe(limited, 'UPDATE', model, { id: there[model]!, payload: () => patches[model] ?? { name: 'Mine' } });
    await probe(limited, 'INSERT', 'Task', { id: workspace, payload: (workspaceId) => ({ workspaceId, title: 'x' }) });
    await probe(limited, 'INSERT', 'TeamMember', {
      id: there['Team']!,
      payload: (teamId) => ({ teamId, userId: outsider.id }),
    });
    await probe(limited, 'INSERT', 'ProjectMember', {
      id: hidden['Project']!,
      payload: (projectId) => ({ projectId, userId: outsider.id }),
    });
    applied(await limited.try('INSERT', 'Task', randomUUID(), { workspaceId: elsewhere, title: 'x' }));
    // A unit of the person that is sent again with this credential is answered without the record, also later.
    const whole = outsider.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'Secret' }));
    const narrow = { ...whole, principal: limited.principal };
    const [made, same] = await engines.any.commit([whole, narrow]);
    const { id, title } = only(made!).record;
    assert.equal(title, 'Secret');
    assert.deepEqual(only(same!).record, { id });
    assert.deepEqual(only(await engines.send(narrow)).record, { id });
    // The change would be visible in all workspaces of the person.
    const renamed = await limited.try('UPDATE', 'User', outsider.id, { name: 'Mallory' });
    assert.equal(refused(renamed).code, 'forbidden');
    const groups = new GroupReader(engines.pool);
    assert.deepEqual((await groups.of(outsider.id, elsewhere)).groups, new Set([outsider.id, elsewhere]));
    assert.deepEqual((await groups.of(outsider.id)).groups, new Set([outsider.id, elsewhere, workspace]));
  });
});
