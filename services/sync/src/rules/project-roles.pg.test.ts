import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedEngines, sharedWithOwner } from '../../test/shared-engines.ts';
import { type TestEngines, TestPerson, applied, brief, change, refused } from '../../test/test-engines.ts';

describe('control over a project', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let member: TestPerson;
  let other: TestPerson;
  let guest: TestPerson;
  let workspace: string;
  let keys = 0;

  before(async () => (engines = await sharedEngines()));
  beforeEach(async () => {
    owner = await engines.person('Owner');
    workspace = await engines.workspace(owner);
    member = await engines.join(workspace, 'member');
    other = await engines.join(workspace, 'member');
    guest = await engines.join(workspace, 'guest');
  });

  const project = (by: TestPerson, more: object = {}): Promise<string> =>
    by.make('Project', { workspaceId: workspace, key: `K${(keys += 1)}`, name: 'Plan', ...more });
  const sees = async (person: TestPerson, projectId: string): Promise<boolean> =>
    (await person.groups()).has(projectId);
  const insert = (by: TestPerson, projectId: string, userId: string) =>
    by.try('INSERT', 'ProjectMember', randomUUID(), { projectId, userId });

  it('is not with its members: they cannot become its lead, add a guest or remove the owner [sync.mutate.changed-by, authentication.scopes.people]', async () => {
    const board = await project(owner, { isPrivate: true });
    applied(await insert(owner, board, member.id));
    for (const payload of [{ leadId: member.id }, { isPrivate: false }, { isPrivate: false, leadId: member.id }]) {
      const refusal = refused(await member.try('UPDATE', 'Project', board, payload));
      assert.equal(refusal.code, 'forbidden');
      assert.match(refusal.error, /^Only owners and admins of the workspace/);
    }
    const app = new TestPerson(engines, owner.id, { scopes: ['write'] });
    for (const payload of [{ leadId: other.id }, { isPrivate: false }])
      assert.equal(refused(await app.try('UPDATE', 'Project', board, payload)).code, 'insufficient_scope');
    const open = await app.make('Project', { workspaceId: workspace, key: 'OPEN', name: 'Open' });
    assert.equal(refused(await app.try('UPDATE', 'Project', open, { isPrivate: true })).code, 'insufficient_scope');
    await app.change('Project', open, { leadId: other.id });
    assert.equal(refused(await insert(member, board, guest.id)).code, 'forbidden');
    assert.equal(
      refused(await member.try('DELETE', 'ProjectMember', await engines.membershipOf(board, owner, 'project'))).code,
      'forbidden',
    );
    // Members may change the other fields, send whole records and leave.
    const record = (await engines.stored('Project', board))!.record;
    await member.change('Project', board, { ...record, name: 'Renamed' });
    await member.delete('ProjectMember', await engines.membershipOf(board, member, 'project'));
    assert.ok(await sees(owner, board));
  });

  it('is not with other members of the workspace: they cannot make it private [sync.mutate.changed-by]', async () => {
    const plan = await project(owner, { leadId: other.id });
    const taken = refused(await member.try('UPDATE', 'Project', plan, { isPrivate: true, leadId: member.id }));
    assert.equal(taken.code, 'forbidden');
    const outcomes = await engines.any.commit([
      member.unit(change('UPDATE', 'Project', plan, { leadId: member.id })),
      member.unit(change('UPDATE', 'Project', plan, { isPrivate: true })),
    ]);
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [false, false],
    );
    await other.change('Project', plan, { leadId: member.id });
    await member.change('Project', plan, { isPrivate: true });
  });

  it('stays with its creator and its lead when anyone makes it private [sync.private-project.keepers]', async () => {
    const admin = await engines.join(workspace, 'admin');
    const plan = await project(member, { leadId: other.id });
    const from = await engines.head();
    await admin.change('Project', plan, { isPrivate: true });
    for (const person of [admin, member, other]) assert.ok(await sees(person, plan));
    assert.ok(!(await sees(owner, plan)));
    const names = { plan, admin: admin.id, member: member.id, other: other.id, workspace };
    assert.deepEqual(brief(await engines.entries(from), names), [
      'DELETE plan for workspace',
      'INSERT plan for plan',
      ...['admin', 'member', 'other'].flatMap((name) => [
        'INSERT ProjectMember for plan',
        `INSERT ProjectMember for ${name}`,
      ]),
    ]);
    // A later lead is a member too, and so is the lead from the start.
    await admin.change('Project', plan, { leadId: owner.id });
    assert.ok(await sees(owner, plan));
    const led = await project(member, { isPrivate: true, leadId: other.id });
    assert.ok((await sees(other, led)) && (await sees(member, led)));
  });

  it('is needed to delete a private project: its other members cannot [sync.private-project.deletion]', async () => {
    for (const deleter of [owner, member, other]) {
      const board = await project(member, { isPrivate: true, leadId: other.id });
      const insider = await engines.join(workspace, 'member');
      for (const { id } of [owner, insider]) applied(await insert(member, board, id));
      assert.equal(refused(await insider.try('DELETE', 'Project', board)).code, 'forbidden');
      // They may archive it, which can be undone.
      applied(await insider.try('ARCHIVE', 'Project', board));
      await deleter.delete('Project', board);
      assert.equal(await engines.stored('Project', board), null);
    }
    const open = await project(owner);
    await member.delete('Project', open);
  });

  it('or the creation of a task is needed to move that into a private project [sync.private-project.moves]', async () => {
    const hidden = await project(member, { isPrivate: true });
    for (const person of [owner, other]) applied(await insert(member, hidden, person.id));
    const secret = await project(owner, { isPrivate: true });
    applied(await insert(owner, secret, member.id));
    const plan = await project(owner, { leadId: other.id });
    const task = (by: TestPerson, projectId: string | null): Promise<string> =>
      by.make('Task', { workspaceId: workspace, title: 'T', projectId });
    const move = async (by: TestPerson, id: string): Promise<string | null> => {
      const outcome = await by.try('UPDATE', 'Task', id, { projectId: hidden });
      return outcome.ok ? null : outcome.code;
    };
    for (const projectId of [null, plan, secret]) {
      const id = await task(owner, projectId);
      assert.equal(await move(member, id), 'forbidden');
      // Members assign themselves, so that gives no right to hide a task.
      await member.change('Task', id, { assigneeId: member.id });
      assert.equal(await move(member, id), 'forbidden');
      assert.equal((await engines.stored('Task', id))!.record['projectId'], projectId);
    }
    // The creator of the task, the lead of its project, and a manager may; everything else of the task is for all.
    assert.equal(await move(member, await task(member, plan)), null);
    assert.equal(await move(other, await task(member, plan)), null);
    assert.equal(await move(owner, await task(member, null)), null);
    const inside = await task(owner, hidden);
    await other.change('Task', inside, { title: 'Changed', projectId: hidden });
    await other.change('Task', inside, { projectId: plan });
  });

  it('ends when the person leaves the workspace or becomes a guest [sync.mutate.changed-by]', async () => {
    const left = await project(member, { leadId: other.id });
    await owner.delete('WorkspaceMember', await engines.membershipOf(workspace, member));
    await owner.change('WorkspaceMember', await engines.membershipOf(workspace, other), { role: 'guest' });
    await owner.change('Project', left, { isPrivate: true });
    assert.ok(!(await sees(member, left)));
    // A lead who is a guest is a member, and has no control.
    assert.ok(await sees(other, left));
    assert.equal(refused(await other.try('UPDATE', 'Project', left, { isPrivate: false })).code, 'forbidden');
    assert.equal(refused(await insert(other, left, guest.id)).code, 'forbidden');
    await other.delete('ProjectMember', await engines.membershipOf(left, other, 'project'));
  });

  it('is with the managers of the workspace when its last member has left', async () => {
    const hidden = await project(member, { isPrivate: true });
    await member.delete('ProjectMember', await engines.membershipOf(hidden, member, 'project'));
    assert.equal(refused(await member.try('UPDATE', 'Project', hidden, { name: 'x' })).code, 'not_found');
    // Managers may change its members, not its content.
    assert.equal(refused(await owner.try('UPDATE', 'Project', hidden, { isPrivate: false })).code, 'not_found');
    applied(await insert(owner, hidden, owner.id));
    await owner.change('Project', hidden, { isPrivate: false, leadId: owner.id });
  });
});

describe('a project has completedAt exactly when its status is done [sync.mutate.completed]', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  let keys = 0;

  before(async () => ({ engines, owner, workspace } = await sharedWithOwner()));

  const at = '2026-01-02T03:04:05.000Z';
  const later = '2026-02-02T03:04:05.000Z';
  const make = (more: object = {}): Promise<string> =>
    owner.make('Project', { workspaceId: workspace, key: `D${(keys += 1)}`, name: 'P', ...more });
  const pair = async (id: string): Promise<[unknown, unknown]> => {
    const record = (await engines.stored('Project', id))!.record;
    return [record['status'], record['completedAt']];
  };

  it('when it is inserted', async () => {
    assert.deepEqual(await pair(await make()), ['active', null]);
    assert.deepEqual(await pair(await make({ completedAt: at })), ['done', at]);
    assert.deepEqual(await pair(await make({ status: 'done', completedAt: at })), ['done', at]);
    assert.deepEqual(await pair(await make({ status: 'active', completedAt: at })), ['active', null]);
    const [status, completedAt] = await pair(await make({ status: 'done' }));
    assert.equal(status, 'done');
    assert.ok(Math.abs(Date.parse(completedAt as string) - Date.now()) < 60_000);
  });

  it('when an update changes either of the two', async () => {
    const id = await make();
    for (const [payload, expected] of [
      [{ completedAt: at }, ['done', at]],
      [{ completedAt: later }, ['done', later]],
      [{ completedAt: null }, ['active', null]],
      [{ status: 'done', completedAt: at }, ['done', at]],
      [{ status: 'dropped' }, ['dropped', null]],
      [{ completedAt: null }, ['dropped', null]],
      [{ completedAt: at }, ['done', at]],
      // If both change, the status decides. A field that is only repeated follows the other.
      [{ status: 'on_hold', completedAt: later }, ['on_hold', null]],
      [{ status: 'on_hold', completedAt: at }, ['done', at]],
      [{ status: 'done', completedAt: null }, ['active', null]],
    ] as const) {
      await owner.change('Project', id, payload);
      assert.deepEqual(await pair(id), expected, JSON.stringify(payload));
    }
    await owner.change('Project', id, { status: 'done', completedAt: null });
    assert.ok((await pair(id))[1]);
  });

  it('and completedAt is not in the future, as for tasks', async () => {
    const id = await make();
    const taskId = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    for (const [model, record] of [
      ['Project', id],
      ['Task', taskId],
    ] as const) {
      const refusal = refused(await owner.try('UPDATE', model, record, { completedAt: '2999-01-01T00:00:00.000Z' }));
      assert.equal(refusal.error, 'completedAt must not be more than a day ahead');
    }
    // The clocks of clients differ.
    await owner.change('Task', taskId, { completedAt: Date.now() + 60 * 60 * 1000 });
  });
});
