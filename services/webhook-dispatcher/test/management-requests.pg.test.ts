import { webhookApi, type Principal } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { TestDispatcher } from './test-dispatcher.ts';
import { MANAGEMENT } from '../src/limits.ts';

const { getEndpoint, listDeliveries, rotateSecret, testEndpoint } = webhookApi;

describe('management of webhook endpoints under many requests', () => {
  let dispatcher: TestDispatcher;
  let home: { id: string; owner: Principal; admin: Principal };

  before(async () => (dispatcher = await TestDispatcher.open('webhook-requests')));
  beforeEach(async () => (home = await dispatcher.workspace('owner', 'admin')));
  after(() => dispatcher[Symbol.asyncDispose]());

  it('answers one person while another one has more requests than there are connections', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    await using stack = new AsyncDisposableStack();
    const blocker = await dispatcher.store.admin.connect();
    // A failure of the test must not leave the lock.
    stack.defer(() => blocker.release(true));
    // Not its partitions, whose maintenance could hold one of them and wait for the table.
    await blocker.query('begin; lock table only webhooks.events in access exclusive mode');
    let answered = 0;
    const lists = Array.from({ length: 20 }, async () => {
      const { status } = await dispatcher.ask(home.owner, listDeliveries, { params });
      answered += 1;
      return status;
    });
    // The lane of the endpoint and the maintenance of the tables may wait, too.
    const isWaiting = async (): Promise<boolean> => {
      const { rowCount } = await dispatcher.store.admin.query(
        `select 1 from pg_locks join pg_stat_activity using (pid)
          where relation = 'webhooks.events'::regclass and not granted and query like '%"lastResponseSnippet"%'`,
      );
      return rowCount === 2;
    };
    await eventually(isWaiting);
    for (let turn = 0; turn < 5; turn += 1)
      assert.equal((await dispatcher.ask(home.admin, getEndpoint, { params })).status, 200);
    assert.equal(answered, 0);
    await blocker.query('rollback');
    assert.deepEqual(new Set(await Promise.all(lists)), new Set([200]));
  });

  it('queues a few test events, however many are asked for at once', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const asked = Array.from({ length: MANAGEMENT.testsMax + 10 }, () =>
      dispatcher.ask(home.owner, testEndpoint, { params: { id: endpoint.id } }),
    );
    const answers = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(answers.filter((status) => status === 202).length, MANAGEMENT.testsMax);
    assert.equal(answers.filter((status) => status === 429).length, 10);
  });

  it('rotates no secret for a person who is an admin no more', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const rotate = () => dispatcher.ask(home.admin, rotateSecret, { params: { id: endpoint.id } });
    assert.equal((await rotate()).status, 200);
    await dispatcher.store.admin.query(`update sync.workspace_members set role = 'member' where user_id = $1`, [
      home.admin.userId,
    ]);
    assert.equal((await rotate()).status, 403);
    const { rows } = await dispatcher.store.admin.query('select 1 from webhooks.secrets where endpoint_id = $1', [
      endpoint.id,
    ]);
    assert.equal(rows.length, 2);
  });
});
