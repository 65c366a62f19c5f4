import type { TestSystem } from '@wts/testkit';
import { startTestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { GENERATIONS } from './agent-clients.ts';

describe('the agent endpoint', function () {
  this.timeout(60_000);
  let system: TestSystem;
  before(async () => {
    system = await startTestSystem({ label: 'agent' });
  });
  after(() => system.close());

  for (const [generation, connect] of Object.entries(GENERATIONS)) {
    describe(generation, () => {
      it('connects, lists the tools of the scopes and calls them [agent.protocol.both-eras]', async () => {
        await using agent = await connect(system.authUrl, system.apiKey);
        const { tools } = await agent.client.listTools();
        assert.ok(tools.length > 0);
        const me = await agent.call('whoami');
        assert.equal((me.value['user'] as { id: string }).id, system.userId, me.text);
        assert.deepEqual(JSON.parse(me.text), me.value);
        const found = await agent.call('find_tasks', { limit: 2 });
        assert.equal((found.value['tasks'] as unknown[]).length, 2, found.text);
        assert.equal(found.value['hasMore'], true);
      });
    });
  }
});
