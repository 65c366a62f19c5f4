import { workspaceApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { SeededDemo } from '../src/commands/seed-demo.ts';
import { openTestService, type TestService } from './test-service.ts';

const PROGRAM = join(import.meta.dirname, '../src/seed.ts');

describe('the seed', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const seed = (userId: string): Promise<SeededDemo> => testService.seed(PROGRAM, { SEED_USER_ID: userId });

  it('creates one demo workspace, in any number of runs, also in parallel', async () => {
    const owner = await testService.person();
    const demos = await Promise.all([seed(owner.userId), seed(owner.userId)]);
    const [demo] = demos;
    assert.ok(demo);
    for (const other of [...demos, await seed(owner.userId)]) assert.deepEqual(other, demo);
    const { body } = await testService.call(owner, workspaceApi.listWorkspaces, {});
    assert.deepEqual(
      body.workspaces.map(({ id, urlKey, role }) => ({ id, urlKey, role })),
      [{ id: demo.workspaceId, urlKey: 'demo', role: 'owner' }],
    );
    const tasks = await testService.backends.sql(
      `select number from sync.tasks where workspace_id = $1 order by number`,
      [demo.workspaceId],
    );
    assert.deepEqual(
      tasks.map(({ number }) => number),
      [1, 2, 3],
    );
  });
});
