import type { Person, World } from '@wts/testkit';
import { eventually, socketOf, startWorld } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';

/** Below the five seconds after which every cache asks again by itself, so that only the news can have done it. */
const NEWS_MS = 2_500;

describe('what ends on one of two gateways', () => {
  let world: World;
  /** The public addresses of both. */
  let doors: readonly string[];
  before(async function () {
    this.timeout(90_000);
    world = await startWorld({ label: 'revocation', syncReplicas: 2, gatewayReplicas: 2 });
    doors = [0, 1].map((replica) => world.service('gateway', replica).url);
  });
  after(() => world.close());

  async function ask(
    door: string,
    token: string,
    method: string,
    path: string,
  ): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(`${door}${path}`, { method, headers });
    return { status: statusCode, text: await body.text() };
  }

  const label = (workspaceId: string, name: string): Promise<unknown> =>
    world.commit([{ modelName: 'Label', modelId: randomUUID(), action: 'INSERT', payload: { workspaceId, name } }]);

  it('ends everywhere at once: a revoked key is refused, and its sockets are closed [api-keys.revoke.everywhere]', async () => {
    const ann = await world.member('Ann');
    const { id, token } = await world.keyOf(ann, { permissions: 'full-access' });
    const other = await world.keyOf(ann, { permissions: 'read-only' });
    await using open = new AsyncDisposableStack();
    const connect = (key: string): Promise<Awaited<ReturnType<typeof socketOf>>[]> =>
      Promise.all(doors.map(async (baseUrl) => open.use(await socketOf({ baseUrl }, { token: key }))));
    const [sockets, others] = [await connect(token), await connect(other.token)];
    // Both gateways remember the key by now.
    for (const door of doors) assert.equal((await ask(door, token, 'GET', '/api/workspaces')).status, 200);

    const revoked = await ask(doors[0] ?? '', ann.token, 'DELETE', `/api/auth/keys/${id}`);
    assert.equal(revoked.status, 200);
    const deadlineMs = NEWS_MS;
    for (const door of doors) {
      const refused = await eventually(
        async () => {
          const answer = await ask(door, token, 'GET', '/api/workspaces');
          return answer.status === 401 ? answer : undefined;
        },
        { deadlineMs },
      );
      assert.match(refused.text, /"error":"Invalid API key"/);
    }
    for (const socket of sockets) {
      await eventually(() => socket.ended()?.code === 1008 || undefined, { deadlineMs });
    }
    for (const socket of others) assert.equal(socket.ended(), null, 'the other key of the same person lives on');
  });

  it('ends everywhere at once: a removed member hears and reads nothing more [workspaces.members.cut-off]', async () => {
    const { workspaceId } = world;
    const eve: Person = await world.member('Eve');
    const { token } = await world.keyOf(eve, { permissions: 'full-access' });
    const own = await ownWorkspaceOf(eve);
    await using open = new AsyncDisposableStack();
    const sockets = await Promise.all(
      [...doors, ...doors].map(async (baseUrl) => open.use(await socketOf({ baseUrl }, { token }))),
    );
    for (const door of doors) {
      assert.equal((await ask(door, token, 'GET', `/api/workspaces/${workspaceId}/members`)).status, 200);
    }

    const removal = `/api/workspaces/${workspaceId}/members/${eve.userId}`;
    assert.equal((await ask(doors[0] ?? '', world.apiKey, 'DELETE', removal)).status, 200);
    const secret = `secret-${randomUUID()}`;
    const fence = `fence-${randomUUID()}`;
    await label(workspaceId, secret);
    await label(own, fence);
    for (const socket of sockets) {
      // Whoever hears the later change without the earlier one was not told of the earlier.
      const told = await eventually(
        () => {
          const said = JSON.stringify(socket.frames);
          return socket.ended() !== null || said.includes(fence) ? said : undefined;
        },
        { deadlineMs: NEWS_MS },
      );
      assert.ok(!told.includes(secret));
    }
    for (const door of doors) {
      assert.equal((await ask(door, token, 'GET', `/api/workspaces/${workspaceId}/members`)).status, 404);
      for (const path of ['/sync/bootstrap', '/sync/deltas']) {
        const { text } = await ask(door, token, 'GET', path);
        assert.ok(!text.includes(secret), path);
      }
      assert.ok(!(await ask(door, token, 'GET', '/api/workspaces')).text.includes(workspaceId));
    }
  });

  async function ownWorkspaceOf({ token }: Person): Promise<string> {
    const { body } = await request(`${world.baseUrl}/api/workspaces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Own', urlKey: `own-${randomUUID().slice(0, 8)}` }),
    });
    return ((await body.json()) as { workspace: { id: string } }).workspace.id;
  }
});
