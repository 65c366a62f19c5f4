import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ask, send } from '../graphql/call.ts';
import { Writer } from '../graphql/writer.ts';
import { sharedSystem } from './shared-system.ts';

describe('keys, workspaces and people by GraphQL', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let workspaceId: string;

  before(async () => {
    testSystem = await sharedSystem();
    ({ workspaceId } = testSystem);
    ann = await testSystem.member('Ann');
  });

  const owner = (): string => testSystem.apiKey;

  it('makes an API key that works at once, lists it without its token, and revokes it', async () => {
    const make = `mutation ($tx: String) { apiKeyCreate(label: "ci", permissions: READ_ONLY, clientTxId: $tx) { success token error { code } apiKey { id label permissions keyPrefix } } }`;
    const tx = randomUUID();
    const { apiKeyCreate: made } = await ask<{
      apiKeyCreate: { token: string; apiKey: { id: string; permissions: string } };
    }>(testSystem, ann.token, make, { tx });
    assert.equal(made.apiKey.permissions, 'READ_ONLY');
    const { apiKeyCreate: again } = await ask<{ apiKeyCreate: { token: string } }>(testSystem, ann.token, make, { tx });
    assert.equal(again.token, made.token);
    const { viewer } = await ask<{ viewer: { id: string } }>(testSystem, made.token, '{ viewer { id } }');
    assert.equal(viewer.id, ann.userId);
    const list = await ask<{ apiKeys: { id: string }[] }>(testSystem, ann.token, '{ apiKeys { id label createdAt } }');
    assert.ok(list.apiKeys.some(({ id }) => id === made.apiKey.id));
    assert.ok(!JSON.stringify(list).includes(made.token));
    const revoke = 'mutation ($id: ID!) { apiKeyRevoke(id: $id) { success error { code } } }';
    assert.deepEqual(await ask(testSystem, ann.token, revoke, { id: made.apiKey.id }), {
      apiKeyRevoke: { success: true, error: null },
    });
    assert.deepEqual(await ask(testSystem, ann.token, revoke, { id: randomUUID() }), {
      apiKeyRevoke: { success: false, error: { code: 'NOT_FOUND' } },
    });
  });

  it('refuses a clientTxId of no or more than 128 characters, as for every other change', async () => {
    const id = randomUUID();
    for (const name of ['', 'x'.repeat(129)]) {
      const named = `clientTxId: ${JSON.stringify(name)}`;
      const mutations = [
        `apiKeyCreate(label: "ci", ${named})`,
        `workspaceCreate(input: {name: "W", urlKey: "${id}"}, ${named})`,
        `workspaceJoin(code: "code", ${named})`,
        `invitationCreate(workspaceId: "${id}", ${named})`,
      ].map((mutation, index) => `m${index}: ${mutation} { success error { code message } }`);
      const error = { code: 'BAD_USER_INPUT', message: 'clientTxId must have 1 to 128 characters' };
      assert.deepEqual(
        Object.values(await ask<object>(testSystem, ann.token, `mutation { ${mutations.join(' ')} }`)),
        mutations.map(() => ({ success: false, error })),
      );
    }
  });

  it('creates a workspace, invites to it, joins it and removes the member [graphql.writes.workspaces]', async () => {
    const urlKey = `w-${randomUUID().slice(0, 18)}`;
    const make = `mutation ($input: WorkspaceCreateInput!, $tx: String) { workspaceCreate(input: $input, clientTxId: $tx) { success role error { code } workspace { id urlKey name } } }`;
    const variables = { input: { name: 'Made', urlKey }, tx: randomUUID() };
    interface Made {
      workspaceCreate: { role: string; workspace: { id: string } };
    }
    const first = await ask<Made>(testSystem, ann.token, make, variables);
    assert.deepEqual(await ask(testSystem, ann.token, make, variables), first);
    assert.equal(first.workspaceCreate.role, 'owner');
    assert.deepEqual(await ask(testSystem, ann.token, make, { ...variables, tx: null }), {
      workspaceCreate: { success: false, role: null, error: { code: 'CONFLICT' }, workspace: null },
    });
    const { id } = first.workspaceCreate.workspace;
    const invite =
      'mutation ($id: ID!) { invitationCreate(workspaceId: $id, input: {role: admin}) { success code invitation { id role } error { code } } }';
    const { invitationCreate } = await ask<{ invitationCreate: { code: string; invitation: { id: string } } }>(
      testSystem,
      ann.token,
      invite,
      { id },
    );
    const list = '{ invitations(workspaceId: "ID") { id role email } }'.replace('ID', id);
    assert.equal((await ask<{ invitations: object[] }>(testSystem, ann.token, list)).invitations.length, 1);
    const bob = await testSystem.person('Bob');
    const join =
      'mutation ($code: String!) { workspaceJoin(code: $code) { success role error { code } workspace { id } } }';
    assert.deepEqual(await ask(testSystem, bob.token, join, { code: invitationCreate.code }), {
      workspaceJoin: { success: true, role: 'admin', error: null, workspace: { id } },
    });
    assert.deepEqual(await ask(testSystem, bob.token, join, { code: 'none' }), {
      workspaceJoin: { success: false, role: null, error: { code: 'NOT_FOUND' }, workspace: null },
    });
    const remove =
      'mutation ($id: ID!, $userId: ID!) { memberRemove(workspaceId: $id, userId: $userId) { success error { code } openInvitations { id } } }';
    const { memberRemove } = await ask<{ memberRemove: { success: boolean; openInvitations: { id: string }[] } }>(
      testSystem,
      ann.token,
      remove,
      { id, userId: bob.userId },
    );
    assert.deepEqual(
      [memberRemove.success, memberRemove.openInvitations[0]?.id],
      [true, invitationCreate.invitation.id],
    );
    assert.deepEqual(await ask(testSystem, ann.token, remove, { id, userId: ann.userId }), {
      memberRemove: { success: false, error: { code: 'CONFLICT' }, openInvitations: [] },
    });
    const end =
      'mutation ($id: ID!, $invitation: ID!) { invitationDelete(workspaceId: $id, id: $invitation) { success } }';
    assert.deepEqual(await ask(testSystem, ann.token, end, { id, invitation: invitationCreate.invitation.id }), {
      invitationDelete: { success: true },
    });
  });

  it('shows owners what happened with the access to a workspace, and refuses others [workspaces.access.events]', async () => {
    const list =
      'query ($w: ID!) { securityEvents(workspaceId: $w, limit: 500) { nodes { kind text user { id } actor } next } }';
    const { securityEvents } = await ask<{
      securityEvents: { nodes: { kind: string; user: { id: string } | null }[] };
    }>(testSystem, owner(), list, { w: workspaceId });
    const joined = securityEvents.nodes.filter(({ kind }) => kind === 'member-joined');
    assert.ok(joined.some(({ user }) => user?.id === testSystem.userId));
    const refused = await testSystem.request(testSystem.readOnlyApiKey, 'POST', '/graphql', {
      body: { query: list, variables: { w: workspaceId } },
    });
    assert.match(refused.text, /FORBIDDEN/);
  });

  it('manages the members of a private project, which its reader is not in', async () => {
    const project = await new Writer(testSystem, ann.token, workspaceId).change(
      'projectCreate',
      {
        input: [
          'ProjectCreateInput!',
          { workspaceId, key: `P${randomUUID().slice(0, 8)}`, name: 'Hidden', isPrivate: true },
        ],
      },
      { record: 'project' },
    );
    const { id: projectId } = project.record;
    const list = 'query ($w: ID!) { privateProjects(workspaceId: $w) { nodes { id name memberCount } hasMore } }';
    const { privateProjects } = await ask<{ privateProjects: { nodes: { id: string }[] } }>(testSystem, owner(), list, {
      w: workspaceId,
    });
    assert.ok(privateProjects.nodes.some(({ id }) => id === projectId));
    const variables = { w: workspaceId, p: projectId, u: testSystem.userId };
    const add =
      'mutation ($w: ID!, $p: ID!, $u: ID!) { privateProjectMemberAdd(workspaceId: $w, projectId: $p, userId: $u) { success member { userId role } error { code } } }';
    assert.deepEqual(await ask(testSystem, owner(), add, variables), {
      privateProjectMemberAdd: { success: true, member: { userId: testSystem.userId, role: 'owner' }, error: null },
    });
    const members =
      'query ($w: ID!, $p: ID!) { privateProjectMembers(workspaceId: $w, projectId: $p) { nodes { userId } } }';
    assert.equal(
      (
        await ask<{ privateProjectMembers: { nodes: object[] } }>(testSystem, owner(), members, {
          w: workspaceId,
          p: projectId,
        })
      ).privateProjectMembers.nodes.length,
      2,
    );
    const remove =
      'mutation ($w: ID!, $p: ID!, $u: ID!) { privateProjectMemberRemove(workspaceId: $w, projectId: $p, userId: $u) { success error { code } } }';
    assert.deepEqual(await ask(testSystem, owner(), remove, variables), {
      privateProjectMemberRemove: { success: true, error: null },
    });
    const { errors } = await send(testSystem, ann.token, list, { w: workspaceId });
    assert.equal(errors?.[0]?.extensions.code, 'FORBIDDEN');
  });
});
