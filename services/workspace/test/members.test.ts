import type { TestPerson } from '@wts/testkit';
import { memberApi, workspaceApi, type Revocation } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('members', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const remove = async (who: TestPerson, workspaceId: string, userId: string): Promise<string | number> => {
    const answer = await testService.call(who, memberApi.removeMember, { params: { workspaceId, userId } });
    return answer.code ?? answer.status;
  };
  const rolesIn = async (who: TestPerson, workspaceId: string): Promise<string[]> => {
    const { body } = await testService.call(who, memberApi.listMembers, { params: { workspaceId } });
    return body.members.map(({ role }) => role);
  };

  it('are listed to every member, in the order they joined [workspaces.members.list]', async () => {
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    for (const who of [owner, admin, member, guest])
      assert.deepEqual(await rolesIn(who, id), ['owner', 'admin', 'member', 'guest']);
  });

  it('can be removed by owners and admins, not by members and guests [workspaces.members.remove]', async () => {
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    assert.equal(await remove(guest, id, member.userId), 'forbidden');
    assert.equal(await remove(member, id, guest.userId), 'forbidden');
    assert.equal(await remove(member, id, admin.userId), 'forbidden');
    assert.equal(await remove(admin, id, guest.userId), 200);
    assert.equal(await remove(owner, id, member.userId.toUpperCase()), 200);
    assert.deepEqual(await rolesIn(owner, id), ['owner', 'admin']);
  });

  it('may leave, whatever their role [workspaces.members.leave]', async () => {
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    for (const who of [guest, member, admin]) assert.equal(await remove(who, id, who.userId), 200);
    assert.deepEqual(await rolesIn(owner, id), ['owner']);
  });

  it('that were removed get 404 for the workspace from the answer on', async () => {
    const { id, urlKey, owner, member } = await testService.workspace('member');
    assert.equal(await remove(owner, id, member.userId), 200);
    const found = await testService.call(member, workspaceApi.getWorkspaceBySlug, { params: { slug: urlKey } });
    assert.equal(found.code, 'not_found');
    assert.equal(
      (await testService.call(member, memberApi.listMembers, { params: { workspaceId: id } })).code,
      'not_found',
    );
    assert.equal(await remove(owner, id, member.userId), 'not_found');
  });

  it('always include an owner [workspaces.members.last-owner]', async () => {
    const { id, owner } = await testService.workspace('admin');
    assert.equal(await remove(owner, id, owner.userId), 'last_owner');
    assert.deepEqual(await rolesIn(owner, id), ['owner', 'admin']);
  });

  it('that are refused get a message with what is required [errors.shape.fields]', async () => {
    const { id, owner, guest } = await testService.workspace('guest');
    const messageOf = ({ text }: { readonly text: string }): unknown =>
      (JSON.parse(text) as { message: unknown }).message;
    const params = { workspaceId: id };
    const invite = await testService.call(guest, memberApi.createInvitation, { params, body: {} });
    assert.equal(messageOf(invite), 'This needs the role owner or admin in the workspace; yours is guest.');
    const leave = await testService.call(owner, memberApi.removeMember, {
      params: { ...params, userId: owner.userId },
    });
    assert.equal(messageOf(leave), 'Make another member an owner first.');
    const { code } = await testService.invite(owner, id, { email: 'somebody@example.com' });
    assert.match(
      String(messageOf(await testService.join(guest, code))),
      /^Sign in with the e-mail address the invitation was made for/,
    );
    assert.match(String(messageOf(await testService.join(guest, 'no code'))), /^No invitation has this code/);
  });

  it('with the role owner cannot be removed by admins', async () => {
    const { id, owner, admin } = await testService.workspace('admin');
    assert.equal(await remove(admin, id, owner.userId), 'forbidden');
  });

  it('of another workspace are not found in this one', async () => {
    const here = await testService.workspace();
    const there = await testService.workspace('member');
    assert.equal(await remove(here.owner, here.id, there.member.userId), 'not_found');
    assert.equal(await remove(here.owner, here.id, randomUUID()), 'not_found');
    assert.deepEqual(await rolesIn(there.owner, there.id), ['owner', 'member']);
  });

  it('that were removed are published to every replica before the answer', async () => {
    const { id, owner, member } = await testService.workspace('member');
    const published = await testService.backends.revocations();
    assert.equal(await remove(owner, id, member.userId), 200);
    const expected: Revocation = { kind: 'membership', userId: member.userId, workspaceId: id };
    assert.deepEqual(await published.next(), expected);
  });
});
