import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CommitEngine } from '../commit/engine.ts';
import { sharedEngines, sharedWithOwner } from '../../test/shared-engines.ts';
import type { TestEngines, TestPerson } from '../../test/test-engines.ts';
import { applied, change, membership, only, openEngine, refused } from '../../test/test-engines.ts';

describe('a record in the Trash', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let member: TestPerson;
  let workspace: string;

  before(async () => {
    ({ engines, owner, workspace } = await sharedWithOwner());
    member = await engines.join(workspace, 'member');
  });

  const make = (model: string, more: object): Promise<string> => owner.make(model, { workspaceId: workspace, ...more });
  let keys = 0;
  const project = (more: object = {}): Promise<string> =>
    make('Project', { key: `K${(keys += 1)}`, name: 'P', ...more });
  const archive = async (model: string, id: string): Promise<void> =>
    void applied(await owner.try('ARCHIVE', model, id));
  const restore = async (model: string, id: string) => only(await owner.try('UNARCHIVE', model, id));
  const code = async (...given: Parameters<TestPerson['try']>): Promise<string> => {
    const outcome = await owner.try(...given);
    return outcome.ok ? 'applied' : outcome.code;
  };

  it('is one ARCHIVE entry, which leaves everything else of it as it is', async () => {
    const task = await make('Task', { title: 'T' });
    const before = (await engines.stored('Task', task))!.record;
    const head = await engines.head();
    await archive('Task', task);
    const [entry, ...rest] = await engines.entries(head);
    assert.deepEqual(rest, []);
    assert.deepEqual([entry?.action, entry?.changed, entry?.actorId], ['ARCHIVE', ['archivedAt'], owner.id]);
    const { archivedAt, ...left } = (await engines.stored('Task', task))!.record;
    assert.deepEqual({ ...left, archivedAt: null }, before);
    assert.equal(typeof archivedAt, 'string');
  });

  it('cannot be changed, completed, placed, commented on or checked off before it is restored [trash.refused]', async () => {
    const [task, other] = [await make('Task', { title: 'T' }), await make('Task', { title: 'Other' })];
    const item = await make('TaskChecklistItem', { taskId: task, title: 'Step' });
    const comment = await make('Comment', { taskId: task, body: 'Said' });
    await archive('Task', task);
    const head = await engines.head();
    for (const [action, model, id, payload] of [
      ['UPDATE', 'Task', task, { title: 'Changed' }],
      ['UPDATE', 'Task', task, { completedAt: new Date().toISOString() }],
      ['UPDATE', 'Task', task, { projectId: await project() }],
      ['UPDATE', 'Task', task, { sortOrder: { after: other } }],
      ['UPDATE', 'TaskChecklistItem', item, { completedAt: new Date().toISOString() }],
      ['INSERT', 'TaskChecklistItem', randomUUID(), { workspaceId: workspace, taskId: task, title: 'More' }],
      ['INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId: task, body: 'More' }],
      ['UPDATE', 'Comment', comment, { body: 'Changed' }],
    ] as const) {
      const refusal = refused(await owner.try(action, model, id, payload));
      assert.equal(refusal.code, 'record_archived', `${action} ${model}`);
      assert.match(refusal.error, /[Rr]estore it first/);
    }
    assert.equal((await engines.entries(head)).filter(({ modelName }) => modelName !== 'Project').length, 0);
    await restore('Task', task);
    assert.equal(await code('UPDATE', 'Task', task, { title: 'Changed' }), 'applied');
    assert.equal(await code('UPDATE', 'TaskChecklistItem', item, { title: 'Changed' }), 'applied');
  });

  it('of any kind is refused changes in the same way, and its deletion is not [trash.refused]', async () => {
    for (const [model, id] of [
      ['Project', await project()],
      ['Label', await make('Label', { name: 'L' })],
      ['Team', await make('Team', { key: 'T', name: 'T' })],
    ] as const) {
      await archive(model, id);
      assert.equal(await code('UPDATE', model, id, { name: 'Changed' }), 'record_archived', model);
      assert.equal(await code('DELETE', model, id), 'applied', model);
    }
    const task = await make('Task', { title: 'T' });
    const comment = await make('Comment', { taskId: task, body: 'Said' });
    await archive('Task', task);
    assert.equal(await code('DELETE', 'Comment', comment), 'applied');
    assert.equal(await code('DELETE', 'Task', task), 'applied');
  });

  it('succeeds with a change that changes nothing, and is not found by who may not see it [trash.refused]', async () => {
    const task = await make('Task', { title: 'T' });
    await archive('Task', task);
    assert.equal(await code('UPDATE', 'Task', task, { title: 'T' }), 'applied');
    const outsider = await engines.person();
    assert.equal(refused(await outsider.try('UPDATE', 'Task', task, { title: 'X' })).code, 'not_found');
    const guest = await engines.join(workspace, 'guest');
    assert.equal(refused(await guest.try('UPDATE', 'Task', task, { title: 'X' })).code, 'forbidden');
    assert.equal(refused(await guest.try('UNARCHIVE', 'Task', task)).code, 'forbidden');
    assert.equal(refused(await guest.try('DELETE', 'Task', task)).code, 'forbidden');
  });

  it('may leave a private project by who decides about the project, and stays archived [trash.refused]', async () => {
    const hidden = await project({ isPrivate: true });
    await owner.make('ProjectMember', { projectId: hidden, userId: member.id });
    const task = await make('Task', { title: 'T', projectId: hidden });
    await archive('Task', task);
    const move = { projectId: null };
    assert.equal(refused(await member.try('UPDATE', 'Task', task, move)).code, 'record_archived');
    assert.equal(await code('UPDATE', 'Task', task, { ...move, title: 'Also' }), 'record_archived');
    assert.equal(await code('UPDATE', 'Task', task, move), 'applied');
    const { groupId, record } = (await engines.stored('Task', task))!;
    assert.deepEqual([groupId, typeof record['archivedAt']], [workspace, 'string']);
  });

  it('is restored as it was, with its number, which no other task got meanwhile [trash.restore]', async () => {
    const [home, label] = [await project(), await make('Label', { name: 'Kept' })];
    const task = await make('Task', { title: 'T', projectId: home, labelIds: [label], sortOrder: 'a5', priority: 3 });
    const before = (await engines.stored('Task', task))!.record;
    await archive('Task', task);
    const later = (await engines.stored('Task', await make('Task', { title: 'Later' })))!.record;
    assert.notEqual(later['number'], before['number']);
    const head = await engines.head();
    const { record } = await restore('Task', task);
    assert.deepEqual(record, before);
    const [entry, ...rest] = await engines.entries(head);
    assert.deepEqual([entry?.action, entry?.changed, rest], ['UNARCHIVE', ['archivedAt'], []]);
  });

  it('is restored without the references to what was deleted meanwhile [trash.restore]', async () => {
    const [label, team] = [await make('Label', { name: 'Going' }), await make('Team', { key: 'GO', name: 'Going' })];
    const leaver = await engines.join(workspace, 'member');
    const task = await make('Task', { title: 'T', labelIds: [label], teamId: team, assigneeId: leaver.id });
    await archive('Task', task);
    await owner.delete('Label', label);
    await owner.delete('Team', team);
    const { record } = await restore('Task', task);
    assert.deepEqual([record['labelIds'], record['teamId']], [[], null]);
  });

  it('stays in the Trash when the person who created or archived it leaves', async () => {
    const leaver = await engines.join(workspace, 'member');
    const task = await leaver.make('Task', { workspaceId: workspace, title: 'T' });
    applied(await leaver.try('ARCHIVE', 'Task', task));
    const { record } = (await engines.stored('Task', task))!;
    await leaver.delete('WorkspaceMember', await engines.membershipOf(workspace, leaver));
    assert.deepEqual((await engines.stored('Task', task))?.record, record);
  });

  it('is deleted with its project, also when it was archived before, and a project archives no task [trash.restore]', async () => {
    const home = await project();
    const [first, second] = [
      await make('Task', { title: 'Archived', projectId: home }),
      await make('Task', { title: 'Open', projectId: home }),
    ];
    await archive('Task', first);
    const head = await engines.head();
    await archive('Project', home);
    assert.equal((await engines.entries(head)).length, 1);
    await restore('Project', home);
    assert.equal(typeof (await engines.stored('Task', first))?.record['archivedAt'], 'string');
    assert.equal((await engines.stored('Task', second))?.record['archivedAt'], null);
    await owner.delete('Project', home);
    assert.deepEqual([await engines.stored('Task', first), await engines.stored('Task', second)], [null, null]);
  });

  it('is deleted under a condition only while it is archived since that time [trash.empty.condition]', async () => {
    const task = await make('Task', { title: 'T' });
    await archive('Task', task);
    const since = async (): Promise<unknown> => (await engines.stored('Task', task))?.record['archivedAt'];
    const first = await since();
    await restore('Task', task);
    assert.equal(await code('DELETE', 'Task', task, { ifArchivedAt: first }), 'conflict');
    await archive('Task', task);
    assert.equal(await code('DELETE', 'Task', task, { ifArchivedAt: '2026-01-01T00:00:00.000Z' }), 'conflict');
    assert.equal(await code('DELETE', 'Task', task, { ifArchivedAt: await since() }), 'applied');
  });
});

describe('how long a workspace keeps its Trash', () => {
  it('is set by owners alone, who can only make it longer than the installation does [trash.retention]', async () => {
    const engines = await sharedEngines();
    const owner = await engines.person();
    const workspace = await engines.workspace(owner);
    const admin = await engines.join(workspace, 'admin');
    const set = async (who: TestPerson, days: unknown): Promise<string> => {
      const outcome = await who.try('UPDATE', 'Workspace', workspace, { trashRetentionDays: days });
      return outcome.ok ? 'applied' : outcome.code;
    };
    assert.equal(await set(admin, 60), 'forbidden');
    for (const [days, outcome] of [
      [29, 'validation_failed'],
      [0, 'validation_failed'],
      [30.5, 'validation_failed'],
      [4000, 'validation_failed'],
      [60, 'applied'],
      [59, 'validation_failed'],
      [null, 'validation_failed'],
      [90, 'applied'],
    ] as const)
      assert.equal(await set(owner, days), outcome, String(days));
  });
});

describe('a workspace that its owner deleted', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let member: TestPerson;
  let workspace: string;
  let task: string;
  let urlKey: string;

  before(async () => (engines = await sharedEngines()));
  beforeEach(async () => {
    owner = await engines.person();
    urlKey = `w-${randomUUID().slice(0, 18)}`;
    workspace = await engines.workspace(owner, urlKey);
    member = await engines.join(workspace, 'member');
    task = await member.make('Task', { workspaceId: workspace, title: 'T' });
  });

  it('is archived by an owner who repeats its urlKey, with the scope admin, and by no other person [trash.workspace.delete]', async () => {
    const admin = await engines.join(workspace, 'admin');
    const attempt = async (who: TestPerson, payload: object): Promise<string> => {
      const outcome = await who.try('ARCHIVE', 'Workspace', workspace, { ...payload });
      return outcome.ok ? 'applied' : outcome.code;
    };
    assert.equal(await attempt(await engines.person(), { urlKey }), 'not_found');
    assert.equal(await attempt(admin, { urlKey }), 'forbidden');
    assert.equal(await attempt(member, { urlKey }), 'forbidden');
    for (const wrong of [{}, { urlKey: 'other' }, { urlKey: null }])
      assert.equal(await attempt(owner, wrong), 'validation_failed');
    const { scopes: _, ...limited } = owner.principal;
    const [unscoped] = await engines.any.commit([
      {
        ...owner.unit(change('ARCHIVE', 'Workspace', workspace, { urlKey })),
        principal: { ...limited, scopes: ['write'] },
      },
    ]);
    assert.equal(refused(unscoped!).code, 'insufficient_scope');
    assert.equal(await attempt(owner, { urlKey }), 'applied');
    assert.equal(await attempt(owner, { urlKey }), 'applied', 'twice');
    assert.equal(refused(await admin.try('UNARCHIVE', 'Workspace', workspace)).code, 'forbidden');
    assert.equal(refused(await owner.try('DELETE', 'Workspace', workspace)).code, 'forbidden');
  });

  it('can be changed by none of its members until it is restored, but be left, and no person can join it [trash.workspace.read-only]', async () => {
    const other = await engines.workspace(member);
    const leaver = await engines.join(workspace, 'member');
    applied(await owner.try('ARCHIVE', 'Workspace', workspace, { urlKey }));
    for (const who of [owner, member])
      for (const [action, model, id, payload] of [
        ['UPDATE', 'Task', task, { title: 'X' }],
        ['ARCHIVE', 'Task', task, {}],
        ['DELETE', 'Task', task, {}],
        ['INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'X' }],
        ['INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId: task, body: 'X' }],
        ['INSERT', 'Project', randomUUID(), { workspaceId: workspace, key: 'X', name: 'X' }],
      ] as const)
        assert.equal(
          refused(await who.try(action, model, id, payload)).code,
          'workspace_archived',
          `${action} ${model}`,
        );
    assert.equal(refused(await owner.try('UPDATE', 'Workspace', workspace, { name: 'X' })).code, 'workspace_archived');
    const membershipId = await engines.membershipOf(workspace, member);
    assert.equal(
      refused(await owner.try('UPDATE', 'WorkspaceMember', membershipId, { role: 'admin' })).code,
      'workspace_archived',
    );
    const stranger = await engines.person();
    const joined = await engines.send({
      principal: stranger.principal,
      authority: 'service',
      clientId: 'workspace',
      clientTxId: randomUUID(),
      mutations: [membership(workspace, stranger.id, 'member')],
    });
    assert.equal(refused(joined).code, 'workspace_archived');
    await leaver.delete('WorkspaceMember', await engines.membershipOf(workspace, leaver));
    await member.make('Task', { workspaceId: other, title: 'Elsewhere' });
    assert.equal(
      refused(await engines.send((await engines.person()).unit(change('UPDATE', 'Task', task, {})))).code,
      'not_found',
    );

    applied(await owner.try('UNARCHIVE', 'Workspace', workspace));
    assert.equal((await member.change('Task', task, { title: 'Restored' })).record['title'], 'Restored');
    await member.make('Task', { workspaceId: workspace, title: 'New' });
  });

  const codeAt = async (engine: CommitEngine, ...given: Parameters<typeof change>): Promise<string> => {
    const outcome = await engines.send(member.unit(change(...given)), engine);
    return outcome.ok ? 'applied' : outcome.code;
  };
  const insertAt = (engine: CommitEngine): Promise<string> =>
    codeAt(engine, 'INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'T' });

  it('is refused changes by every replica from its deletion on, and gets them from its restoration on [trash.workspace.read-only]', async () => {
    const other = openEngine({ pool: engines.pool });
    const attempts = async (): Promise<string[]> => [
      await insertAt(other),
      await insertAt(other),
      await codeAt(other, 'UPDATE', 'Task', task, { title: randomUUID() }),
    ];
    const [allowed, isRefused] = [Array(3).fill('applied'), Array(3).fill('workspace_archived')];
    assert.deepEqual(await attempts(), allowed);
    for (let time = 0; time < 2; time += 1) {
      applied(await owner.try('ARCHIVE', 'Workspace', workspace, { urlKey }));
      assert.deepEqual(await attempts(), isRefused);
      applied(await owner.try('UNARCHIVE', 'Workspace', workspace));
      assert.deepEqual(await attempts(), allowed);
    }
  });

  it('has no entry behind its deletion, also of changes that were under way on another replica [trash.workspace.read-only]', async () => {
    const other = openEngine({ pool: engines.pool });
    const head = await engines.head();
    const codes = new Set<string>();
    const writing = Array.from({ length: 4 }, async () => {
      for (let code = ''; code !== 'workspace_archived'; codes.add(code)) code = await insertAt(other);
    });
    applied(await owner.try('ARCHIVE', 'Workspace', workspace, { urlKey }));
    await Promise.all(writing);
    const entries = (await engines.entries(head)).filter(({ workspaceId }) => workspaceId === workspace);
    assert.deepEqual([entries.at(-1)?.modelName, entries.at(-1)?.action], ['Workspace', 'ARCHIVE']);
    assert.ok(codes.difference(new Set(['applied', 'workspace_archived'])).size === 0, [...codes].join());
  });

  it('is changed by the mutations of its request before its deletion and after its restoration alone', async () => {
    const insert = () => owner.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'T' }));
    const remove = owner.unit(change('ARCHIVE', 'Workspace', workspace, { urlKey }));
    const restore = owner.unit(change('UNARCHIVE', 'Workspace', workspace));
    const outcomes = await engines.any.commit([insert(), remove, insert(), restore, insert()]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? 'applied' : outcome.code)),
      ['applied', 'applied', 'workspace_archived', 'applied', 'applied'],
    );
  });
});
