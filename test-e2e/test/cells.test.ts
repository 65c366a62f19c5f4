import { startTestSystem, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';

describe('two cells with one auth', function () {
  this.timeout(60_000);
  let testSystem: TestSystem;

  before(async () => {
    testSystem = await startTestSystem({ label: 'cells', secondCell: true, services: ['webhook-dispatcher'] });
  });
  after(() => testSystem.close());

  it('know the same credentials, and each answers for its own workspaces', async () => {
    const workspacesAt = async ({ request }: Pick<TestSystem, 'request'>): Promise<string[]> => {
      const reply = await request.call(testSystem, testSystem.apiKey, 'GET', '/api/workspaces');
      return (reply.json() as { workspaces: { id: string }[] }).workspaces.map(({ id }) => id);
    };
    assert.deepEqual(await workspacesAt(testSystem), [testSystem.workspaceId]);
    assert.deepEqual(await workspacesAt(testSystem.secondCell), []);
  });
});
