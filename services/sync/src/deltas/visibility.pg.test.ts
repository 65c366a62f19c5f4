import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DeltasReply, SyncAction } from '@wts/contracts';
import { eventually, socketOf } from '@wts/testkit';
import { GroupCache, GroupReader } from '@wts/read-model';
import { openTestReplica } from '../../test/replica.ts';
import { TestEngines, applied, change, membership, refused, type TestPerson } from '../../test/test-engines.ts';
import { raiseFloor } from '../store/retention.ts';
import { deltasSources, readDeltas } from './read-deltas.ts';

describe('the entries that a reader gets', () => {
  let engines: TestEngines;
  let groups: GroupCache;
  let owner: TestPerson;
  let workspace: string;

  before(async () => (engines = await TestEngines.open('visibility')));
  beforeEach(async () => {
    groups = new GroupCache();
    owner = await engines.person('Owner');
    workspace = await engines.workspace(owner);
  });
  after(() => engines[Symbol.asyncDispose]());

  async function read(reader: { readonly id: string }, after = 0n): Promise<readonly SyncAction[]> {
    const question = {
      userId: reader.id,
      after,
      limit: 5000,
      requested: new Set<string>(),
      spelling: 'words',
    } as const;
    const text = await readDeltas(deltasSources(engines.pool, null, groups), question);
    return (JSON.parse(text) as DeltasReply).actions;
  }
  const titles = async (reader: TestPerson, after = 0n): Promise<unknown[]> =>
    (await read(reader, after)).flatMap(({ data }) => (data['title'] === undefined ? [] : [data['title']]));
  const project = (by: TestPerson, more: object = {}): Promise<string> =>
    by.make('Project', { workspaceId: workspace, key: 'P', name: 'P', isPrivate: true, ...more });
  const leave = async (who: TestPerson): Promise<object> =>
    owner.delete('WorkspaceMember', await engines.membershipOf(workspace, who));
  const task = (title: string, projectId: string | null = null): Promise<string> =>
    owner.make('Task', { workspaceId: workspace, title, projectId });

  it('of a project that becomes private again: none of its earlier private time [never.shown-outside, sync.membership.from-gain]', async () => {
    const member = await engines.join(workspace, 'admin');
    const hidden = await project(owner);
    const secret = await task('Salaries', hidden);
    await owner.delete('Task', secret);
    await owner.change('Project', hidden, { isPrivate: false });
    await member.change('Project', hidden, { isPrivate: true });
    assert.deepEqual(await titles(member), []);
    await task('After', hidden);
    assert.deepEqual(await titles(member), ['After']);
    // A member who was inside throughout does not get it either.
    assert.deepEqual(await titles(owner), ['After']);
  });

  it('of a private project they are added to: the later entries; the earlier state they load by its group', async () => {
    const member = await engines.join(workspace, 'member');
    const hidden = await project(owner);
    await owner.delete('Task', await task('Before', hidden));
    const before = await engines.head();
    await owner.make('ProjectMember', { projectId: hidden, userId: member.id });
    await task('After', hidden);
    for (const after of [0n, before, before + 1n]) assert.deepEqual(await titles(member, after), ['After']);
  });

  it('of a workspace they joined again: none from before they joined [sync.membership.from-gain]', async () => {
    const member = await engines.join(workspace, 'member');
    await task('First stay');
    const cursor = await engines.head();
    await task('Not read yet');
    await leave(member);
    await task('Away');
    await engines.decided(member.id, membership(workspace, member.id, 'member'));
    await task('Second stay');
    for (const after of [0n, cursor]) assert.deepEqual(await titles(member, after), ['Second stay']);
    assert.deepEqual(await titles(await engines.join(workspace, 'member')), []);
  });

  it('of a workspace they left: none, and none of its private projects in which they still have a membership [sync.membership.workspace-first, never.shown-outside]', async () => {
    const member = await engines.join(workspace, 'member');
    const hidden = await project(owner);
    const inside = await owner.make('ProjectMember', { projectId: hidden, userId: member.id });
    const { record, groupId } = (await engines.stored('ProjectMember', inside))!;
    await using replica = await openTestReplica({ pool: engines.pool, pollMs: 10 });
    await using socket = await socketOf(replica, { token: member.id, after: String(replica.hub.last) });
    await leave(member);
    await engines.pool.query(
      `insert into sync.project_members (id, project_id, user_id, workspace_id, group_id, record, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, now(), now()) on conflict do nothing`,
      [inside, hidden, member.id, workspace, groupId, record],
    );
    await task('Hidden', hidden);
    groups.invalidate();
    assert.deepEqual((await new GroupReader(engines.pool, groups).of(member.id)).groups, new Set([member.id]));
    assert.deepEqual(await titles(member), []);
    const end = await engines.head();
    await eventually(() => replica.hub.last >= end);
    replica.socketServer.revoke({ kind: 'membership', userId: member.id, workspaceId: workspace });
    await member.change('User', member.id, { name: 'Still themselves' });
    await socket.untilAction(({ data }) => data['name'] === 'Still themselves');
    assert.ok(socket.actions.every(({ groupId: group }) => group === member.id || BigInt(socket.cursor()) < end));
    assert.deepEqual(
      socket.actions.filter(({ data }) => data['title'] === 'Hidden'),
      [],
    );
  });

  it('are exact from a cursor after a gain that was trimmed, and after a later gain that was not [sync.log.retention]', async () => {
    const member = await engines.join(workspace, 'member');
    await task('Before the floor');
    const floor = await engines.head();
    try {
      await raiseFloor(engines.pool, floor);
      await engines.pool.query('delete from sync.sync_actions where sync_id < $1', [floor.toString()]);
      await task('Behind the floor');
      assert.deepEqual(await titles(member, floor), ['Behind the floor']);
      groups.invalidate();
      assert.deepEqual(await titles(member, floor), ['Behind the floor']);
      await leave(member);
      await engines.decided(member.id, membership(workspace, member.id, 'member'));
      await task('Again');
      assert.deepEqual(await titles(member, floor), ['Again']);
    } finally {
      await engines.pool.query('update sync.log_state set floor = 0');
    }
  });

  describe('under the id of a group', () => {
    const taken = { ok: false, code: 'conflict', error: 'A Project with this id already exists' } as const;
    const insert = (by: TestPerson, id: string, workspaceId: string, more: object = {}) =>
      by.try('INSERT', 'Project', id, {
        workspaceId,
        key: `K${randomUUID().slice(0, 8)}`,
        name: 'P',
        isPrivate: true,
        ...more,
      });

    it('of a deleted private project: none, because no new record gets that id [never.shown-outside, sync.group.used-once]', async () => {
      const outsider = await engines.person('Outsider');
      const outside = await engines.workspace(outsider);
      const hidden = await project(owner);
      await task('Private', hidden);
      await owner.delete('Project', hidden);
      for (const id of [hidden, hidden.toUpperCase()]) {
        for (const isPrivate of [true, false]) {
          assert.deepEqual(refused(await insert(outsider, id, outside, { isPrivate })), taken);
          assert.deepEqual(refused(await insert(owner, id, workspace, { isPrivate })), taken);
        }
      }
      assert.deepEqual(await titles(outsider), []);
      // Also when the log no longer has the deletion.
      await engines.pool.query('delete from sync.sync_actions where group_id = $1 or model_id = $1', [hidden]);
      assert.deepEqual(refused(await insert(outsider, hidden, outside)), taken);
    });

    it('of a deleted public project, of a person, and of a workspace: none, for the same reason [sync.group.used-once]', async () => {
      const open = await project(owner, { isPrivate: false });
      await owner.delete('Project', open);
      for (const id of [open, owner.id, workspace])
        assert.deepEqual(refused(await insert(owner, id, workspace)), taken);
      const person = await engines.person();
      const unit = (id: string) => ({
        principal: person.principal,
        authority: 'service' as const,
        clientId: 'workspace',
        clientTxId: randomUUID(),
        mutations: [change('INSERT', 'Workspace', id, { name: 'W', urlKey: `w-${randomUUID().slice(0, 18)}` })],
      });
      assert.equal(refused(await engines.send(unit(open))).code, 'conflict');
      applied(await engines.send(unit(randomUUID())));
    });

    it('that is created, deleted and created again in one request or by two callers: only the first creation succeeds [sync.group.used-once]', async () => {
      const id = randomUUID();
      const payload = { workspaceId: workspace, key: 'ONCE', name: 'P', isPrivate: true };
      const made = change('INSERT', 'Project', id, payload);
      const outcomes = await engines.any.commit(
        [made, change('DELETE', 'Project', id), made].map((one) => owner.unit(one)),
      );
      assert.deepEqual(
        outcomes.map(({ ok }) => ok),
        [true, true, false],
      );
      const outsider = await engines.person();
      const outside = await engines.workspace(outsider);
      assert.deepEqual(refused(await insert(outsider, id, outside)), taken);
      const both = randomUUID();
      const raced = await Promise.all([insert(owner, both, workspace), insert(outsider, both, outside)]);
      assert.deepEqual(new Set(raced.map(({ ok }) => ok)), new Set([true, false]));
      assert.deepEqual(
        raced.find(({ ok }) => !ok),
        taken,
      );
    });

    it('that the same device creates again: the first answer, until the record is deleted [sync.mutate.insert-replay]', async () => {
      const payload = { workspaceId: workspace, key: 'AGAIN', name: 'P' };
      const id = randomUUID();
      const first = applied(await owner.try('INSERT', 'Project', id, payload));
      const again = applied(await owner.try('INSERT', 'Project', id, payload));
      assert.deepEqual([again.replayed, again.mutations[0]?.syncId], [true, first.mutations[0]?.syncId]);
      await owner.delete('Project', id);
      assert.deepEqual(refused(await owner.try('INSERT', 'Project', id, payload)), taken);
    });
  });
});
