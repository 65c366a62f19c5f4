import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedEngines } from '../../test/shared-engines.ts';
import { type TestEngines, applied, brief, change, membership, refused } from '../../test/test-engines.ts';
import { SYNC_LIMITS } from '../limits.ts';

describe('membership of a workspace', () => {
  let engines: TestEngines;

  before(async () => (engines = await sharedEngines()));

  it('has an entry of the person first, then of the membership for the workspace, then for the person [sync.membership.in-order]', async () => {
    const owner = await engines.person('Owner');
    const workspace = await engines.workspace(owner);
    const person = await engines.person('Newcomer');
    const names = { workspace, person: person.id };
    const from = await engines.head();
    const joined = await engines.decided(person.id, membership(workspace, person.id, 'member'));
    const entries = await engines.entries(from);
    assert.deepEqual(brief(entries, names), [
      'INSERT person for workspace',
      'INSERT WorkspaceMember for workspace',
      'INSERT WorkspaceMember for person',
    ]);
    assert.ok(entries.every(({ workspaceId }) => workspaceId === workspace));
    assert.equal(joined.lastId.toString(), entries.at(-1)?.syncId);
    assert.deepEqual(await person.groups(), new Set([person.id, workspace]));

    const second = await engines.head();
    await person.delete('WorkspaceMember', await engines.membershipOf(workspace, person));
    await engines.decided(person.id, membership(workspace, person.id, 'guest'));
    assert.deepEqual(brief(await engines.entries(second), names), [
      'DELETE WorkspaceMember for person',
      'DELETE WorkspaceMember for workspace',
      // The workspace has the person as they were when they left.
      'UPDATE person for workspace',
      'INSERT WorkspaceMember for workspace',
      'INSERT WorkspaceMember for person',
    ]);
  });

  it('and of any number of projects prevents neither work in another workspace nor leaving that [never.unbounded]', async () => {
    const person = await engines.person('Busy');
    const [home, elsewhere] = [await engines.workspace(person), await engines.workspace(person)];
    const heir = await engines.join(home, 'owner');
    const key = { key: 'OWN', name: 'P', isPrivate: true };
    const project = await person.make('Project', { workspaceId: home, ...key });
    const other = await person.make('Project', { workspaceId: elsewhere, ...key });
    await engines.pool.query(
      `insert into sync.project_members (id, project_id, user_id, workspace_id, group_id, record, created_at, updated_at)
       select gen_random_uuid(), gen_random_uuid(), user_id, workspace_id, group_id, record, created_at, updated_at
       from sync.project_members, generate_series(0, ${SYNC_LIMITS.unitEntriesMax}) where project_id = $1`,
      [other],
    );
    const taskId = await person.make('Task', { workspaceId: home, title: 'T', projectId: project });
    await person.change('Task', taskId, { title: 'Changed', assigneeId: heir.id });
    applied(await heir.try('INSERT', 'Task', randomUUID(), { workspaceId: home, title: 'T', assigneeId: person.id }));
    await person.delete('WorkspaceMember', await engines.membershipOf(home, person));
    assert.ok(!(await person.groups()).has(project));
    const { rows } = await engines.pool.query('select id from sync.project_members where project_id = $1', [other]);
    assert.equal(rows.length, 1);
  });

  it('is made with a new person and a new workspace in one unit', async () => {
    const [user, workspace, member] = [randomUUID(), randomUUID(), randomUUID()];
    const from = await engines.head();
    await engines.decided(
      user,
      change('INSERT', 'User', user, { name: 'Ada', email: 'ada@example.org' }),
      change('INSERT', 'Workspace', workspace, { name: 'W', urlKey: `w-${user.slice(0, 8)}` }),
      membership(workspace, user, 'owner', member),
    );
    assert.deepEqual(brief(await engines.entries(from), { user, workspace, member }), [
      'INSERT user for user',
      'INSERT workspace for workspace',
      'INSERT user for workspace',
      'INSERT member for workspace',
      'INSERT member for user',
    ]);
  });

  it('gives a change of the person an entry for each workspace that sees them, that for the person last', async () => {
    const person = await engines.person('Before');
    const workspaces = [await engines.workspace(person), await engines.workspace(person)];
    const from = await engines.head();
    const { record } = await person.change('User', person.id, {
      name: 'After',
      avatarUrl: 'https://example.org/a.png',
    });
    assert.equal(record['name'], 'After');
    const entries = await engines.entries(from);
    assert.deepEqual(new Set(entries.slice(0, -1).map(({ groupId }) => groupId)), new Set(workspaces));
    assert.equal(entries.length, 3);
    assert.equal(entries.at(-1)?.groupId, person.id);
    for (const { action, changed, data, groupId, workspaceId } of entries) {
      assert.equal(workspaceId, groupId === person.id ? null : groupId);
      assert.deepEqual([action, changed], ['UPDATE', ['name', 'avatarUrl']]);
      assert.deepEqual(Object.keys(data), ['name', 'avatarUrl', 'updatedAt']);
    }
  });

  it('ends with those of its teams and projects, also private ones, and none in other workspaces', async () => {
    const owner = await engines.person();
    const [workspace, other] = [await engines.workspace(owner), await engines.workspace(owner)];
    const leaver = await engines.join(workspace, 'member');
    await engines.decided(leaver.id, membership(other, leaver.id, 'member'));
    const hidden = await owner.make('Project', { workspaceId: workspace, key: 'H', name: 'H', isPrivate: true });
    const inside = await owner.make('ProjectMember', { projectId: hidden, userId: leaver.id });
    const team = await owner.make('Team', { workspaceId: workspace, key: 'T', name: 'T' });
    const mate = await owner.make('TeamMember', { teamId: team, userId: leaver.id });
    const elsewhere = await owner.make('Team', { workspaceId: other, key: 'T', name: 'T' });
    const kept = await owner.make('TeamMember', { teamId: elsewhere, userId: leaver.id });
    const task = await owner.make('Task', { workspaceId: workspace, title: 'T', assigneeId: leaver.id });

    const from = await engines.head();
    await owner.delete('WorkspaceMember', await engines.membershipOf(workspace, leaver));
    const said = brief(await engines.entries(from), { workspace, hidden, inside, mate, leaver: leaver.id });
    assert.deepEqual(said.slice(-2), ['DELETE WorkspaceMember for leaver', 'DELETE WorkspaceMember for workspace']);
    assert.deepEqual(said.slice(0, -2).sort(), [
      'DELETE inside for hidden',
      'DELETE inside for leaver',
      'DELETE mate for workspace',
    ]);
    assert.ok(said.indexOf('DELETE inside for leaver') < said.indexOf('DELETE inside for hidden'));
    assert.deepEqual(await leaver.groups(), new Set([leaver.id, other]));
    assert.ok(await engines.stored('TeamMember', kept));
    // The creator of a task stays, because people are never deleted.
    assert.equal((await engines.stored('Task', task))?.record['assigneeId'], leaver.id);
    assert.equal(refused(await leaver.try('UPDATE', 'Task', task, { title: 'x' })).error, 'Task not found');
  });

  it('has one role at a time, and a change of it has entries for both groups', async () => {
    const owner = await engines.person();
    const workspace = await engines.workspace(owner);
    const person = await engines.join(workspace, 'guest');
    const from = await engines.head();
    await owner.change('WorkspaceMember', await engines.membershipOf(workspace, person), { role: 'admin' });
    assert.deepEqual(brief(await engines.entries(from), { workspace, person: person.id }), [
      'UPDATE WorkspaceMember for workspace',
      'UPDATE WorkspaceMember for person',
    ]);
    const again = {
      principal: owner.principal,
      authority: 'service' as const,
      clientId: 'w',
      clientTxId: randomUUID(),
      mutations: [membership(workspace, person.id, 'member')],
    };
    assert.deepEqual(refused(await engines.send(again)), {
      ok: false,
      code: 'conflict',
      error: 'Another WorkspaceMember has this userId',
    });
  });

  describe('of owners', () => {
    it('keeps one: the last may neither leave nor step down, nor be removed by a service', async () => {
      const owner = await engines.person();
      const workspace = await engines.workspace(owner);
      const own = await engines.membershipOf(workspace, owner);
      const last = { ok: false, code: 'last_owner', error: 'A workspace keeps at least one owner' } as const;
      assert.deepEqual(await owner.try('DELETE', 'WorkspaceMember', own), last);
      assert.deepEqual(await owner.try('UPDATE', 'WorkspaceMember', own, { role: 'admin' }), last);
      const decided = {
        principal: owner.principal,
        authority: 'service' as const,
        clientId: 'w',
        clientTxId: randomUUID(),
      };
      assert.deepEqual(await engines.send({ ...decided, mutations: [change('DELETE', 'WorkspaceMember', own)] }), last);

      const heir = await engines.join(workspace, 'member');
      await owner.change('WorkspaceMember', await engines.membershipOf(workspace, heir), { role: 'owner' });
      await owner.change('WorkspaceMember', own, { role: 'guest' });
      assert.deepEqual(await heir.try('DELETE', 'WorkspaceMember', await engines.membershipOf(workspace, heir)), last);
    });

    it('is given and taken by owners only', async () => {
      const owner = await engines.person();
      const workspace = await engines.workspace(owner);
      const [admin, member] = [await engines.join(workspace, 'admin'), await engines.join(workspace, 'member')];
      const only = { ok: false, code: 'forbidden', error: 'Only an owner can add, change or remove an owner' } as const;
      const theirs = await engines.membershipOf(workspace, member);
      assert.deepEqual(await admin.try('UPDATE', 'WorkspaceMember', theirs, { role: 'owner' }), only);
      assert.deepEqual(
        await admin.try('UPDATE', 'WorkspaceMember', await engines.membershipOf(workspace, admin), { role: 'owner' }),
        only,
      );
      const ownerOwn = await engines.membershipOf(workspace, owner);
      await owner.change('WorkspaceMember', theirs, { role: 'owner' });
      assert.deepEqual(await admin.try('UPDATE', 'WorkspaceMember', ownerOwn, { role: 'member' }), only);
      assert.deepEqual(await admin.try('DELETE', 'WorkspaceMember', ownerOwn), only);
      await member.delete('WorkspaceMember', ownerOwn);
      assert.deepEqual(await owner.groups(), new Set([owner.id]));
    });

    it('keeps one of two who leave concurrently through two replicas', async () => {
      for (let round = 0; round < 4; round += 1) {
        const one = await engines.person();
        const workspace = await engines.workspace(one);
        const other = await engines.join(workspace, 'owner');
        const leave = await Promise.all(
          [one, other]
            .map(async (who) =>
              who.unit(change('DELETE', 'WorkspaceMember', await engines.membershipOf(workspace, who))),
            )
            .map(async (unit, index) => engines.send(await unit, engines.all[index])),
        );
        assert.deepEqual(leave.map((outcome) => (outcome.ok ? 'left' : outcome.code)).sort(), ['last_owner', 'left']);
      }
    });

    it('keeps one of two who leave in one batch', async () => {
      const one = await engines.person();
      const workspace = await engines.workspace(one);
      const other = await engines.join(workspace, 'owner');
      const units = await Promise.all(
        [one, other].map(async (who) =>
          who.unit(change('DELETE', 'WorkspaceMember', await engines.membershipOf(workspace, who))),
        ),
      );
      const [first, second] = await engines.any.commit(units);
      applied(first!);
      assert.equal(refused(second!).code, 'last_owner');
    });
  });
});
