import assert from 'node:assert/strict';
import { createApiKey } from '@wts/access';
import { RawClient, errorOf, request, say } from './raw.ts';
import { startWorld, until } from './world.ts';
import type { World } from './world.ts';

/** A request with a key that is well formed and made up: whether anybody has it, only a look-up shows. */
const stranger = (): string => request('GET /api/workspaces', [`Authorization: Bearer ${createApiKey('wts_').token}`]);

describe('what comes without a credential', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());
  beforeEach(() => {
    world.workspace.reset();
    world.workspace.lookUps = 0;
    world.workspace.lookUpGate = Promise.resolve();
  });

  it('does not stop anybody when it is 200 000 requests in one write: one is judged at a time [limits.pipelining]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    world.workspace.lookUpGate = promise;
    const many = Array.from({ length: 2000 }, stranger).join('').repeat(100);
    const client = await RawClient.open(world.api);
    client.send(many);
    await until('the first is looked up', () => world.workspace.lookUps > 0);
    for (let count = 0; count < 50; count += 1) {
      assert.equal((await say(world.api, request('GET /health'))).status, 200);
    }
    assert.equal(world.workspace.lookUps, 1);
    resolve();
    for (let count = 0; count < 50; count += 1) {
      assert.equal((await say(world.api, request('GET /health'))).status, 200);
      errorOf(await client.reply(), 401, 'api_key_invalid');
    }
    client.destroy();
    assert.ok(world.workspace.lookUps < 2000);
    assert.equal((await say(world.api, request('GET /health'))).status, 200);
  });
});
