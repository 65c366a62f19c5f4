import { eventually, freePort } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LIMITS } from '@wts/contracts';
import { MODEL_NAMES } from '@wts/models';
import { caller, idsOf, TestSyncService } from './test-sync-service.ts';
import { SYNC_LIMITS } from '../src/limits.ts';

/** One person, the neighbor, reads as much as possible; the other must be served as if alone. */
describe('a person whose neighbor reads as much as possible [never.one-takes-all]', () => {
  let sync: TestSyncService;
  let ada: string;
  let bob: string;
  let home: string;
  let office: string;
  let metricsUrl: string;
  before(async () => {
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    sync = await TestSyncService.open('fair-reading', { METRICS_PORT: String(port) });
    [ada, bob] = [await sync.person('Ada'), await sync.person('Bob')];
    [home, office] = [await sync.workspace(ada), await sync.workspace(bob)];
    await sync.insert('Label', { workspaceId: office, name: 'Mine' }, bob);
    await sync.fillTasks(home, 100);
  });
  after(() => sync[Symbol.asyncDispose]());

  const metric = async (name: string): Promise<number> => {
    const answer = await fetch(metricsUrl, { headers: { connection: 'close' } });
    const lines = (await answer.text()).split('\n').filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  /** This many different selections of models, each with the tasks. */
  const selections = (count: number): string[] => {
    const others = MODEL_NAMES.filter((name) => name !== 'Task');
    return Array.from({ length: count }, (_, index) =>
      ['Task', ...others.filter((_name, bit) => (index >> bit) % 2 === 1)].join(','),
    );
  };
  const sendMany = (disconnect: AbortController, paths: readonly string[]): Promise<unknown> =>
    Promise.allSettled(
      paths.map(async (path) => {
        const answer = await sync.call(path, { principal: caller(ada), signal: disconnect.signal });
        await answer.arrayBuffer();
      }),
    );

  it('gets bootstraps, keyed reads and deltas while 100 different bootstraps of the neighbor wait for a locked table', async () => {
    const disconnect = new AbortController();
    await sync.whileHeld('sync.tasks', async () => {
      const neighborReads = sendMany(
        disconnect,
        selections(100).map((models) => `/sync/bootstrap?onlyModels=${models}`),
      );
      await eventually(async () => (await metric('wts_snapshot_waiting')) >= 60);
      const { rows } = await sync.bootstrap(bob, { onlyModels: 'Label,Workspace' });
      assert.equal(idsOf(rows).length, 2);
      const labels = await sync.batch(bob, [{ modelName: 'Label', indexedKey: 'workspaceId', keyValue: office }]);
      assert.equal(labels.length, 1);
      assert.ok((await sync.deltas(bob, { after: '0' })).actions.length > 0);
      assert.ok((await metric('wts_snapshot_waiting')) > 0, 'the requests of the neighbor still wait');
      disconnect.abort();
      await neighborReads;
      // Requests of disconnected clients hold no slot.
      await eventually(async () => (await metric('wts_snapshot_waiting')) === 0);
      await eventually(async () => (await metric('wts_snapshot_running')) === 0);
    });
  });

  it('keeps its shared snapshot while the neighbor requests a hundred different ones', async () => {
    await sync.bootstrap(bob, {});
    for (const models of selections(100)) await sync.bootstrap(ada, { onlyModels: models });
    const before = await metric('wts_snapshot_shared_total');
    await sync.bootstrap(bob, {});
    assert.equal((await metric('wts_snapshot_shared_total')) - before, 1);
  });

  it('has connections left, because polls of disconnected clients never start or are cancelled', async () => {
    const disconnect = new AbortController();
    await sync.whileHeld('sync.sync_actions', async () => {
      const neighborReads = sendMany(
        disconnect,
        Array.from({ length: 100 }, () => '/sync/deltas?after=0&limit=5000'),
      );
      await eventually(async () => (await metric('wts_fairness_waiting')) >= 90);
      const { rows } = await sync.sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and application_name = 'wts-sync' and wait_event_type = 'Lock'`,
      );
      // Some connections read the log for the process itself.
      assert.ok((rows[0]?.count ?? 0) <= 6, `${rows[0]?.count} connections wait`);
      disconnect.abort();
      await neighborReads;
      await eventually(async () => (await metric('wts_fairness_waiting')) === 0);
    });
    assert.ok((await sync.deltas(bob, { after: '0' })).actions.length > 0);
  });

  it('gets answers to its changes while the neighbor does not receive large answers to small changes [never.unbounded]', async () => {
    const taskId = await sync.insert(
      'Task',
      { workspaceId: home, title: 'Large', description: 'x'.repeat(50_000) },
      ada,
    );
    const change = { modelName: 'Task', modelId: taskId, action: 'UPDATE', payload: { title: 'Large' } };
    const many = Array.from({ length: LIMITS.mutateTransactionsMax }, () => change);
    const requests = Array.from({ length: 20 }, () => sync.mutate(ada, many));
    const answers = await Promise.all(requests);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0, 'all of them are kept');
    assert.match(refused[0]?.headers.get('retry-after') ?? '', /^[1-5]$/);
    const insert = { modelName: 'Label', modelId: randomUUID(), action: 'INSERT' };
    const small = { ...insert, payload: { workspaceId: office, name: 'L' } };
    assert.equal((await sync.mutate(bob, [small])).status, 200);
    for (const answer of answers) await answer.body?.cancel();
    await eventually(async () => (await sync.mutate(ada, [change])).status === 200);
  });

  it('has its large changes accepted while the neighbor starts the maximum of large bodies and ends none', async () => {
    const sendLarge = (userId: string, workspaceId: string): Promise<Response> => {
      const payload = { workspaceId, title: 'Large', description: '\u0001'.repeat(20_000) };
      return sync.mutate(userId, [{ modelName: 'Task', modelId: randomUUID(), action: 'INSERT', payload }]);
    };
    const { mutateBodyBytes } = LIMITS;
    const { bodiesBytesMax } = SYNC_LIMITS;
    const sending = Array.from({ length: bodiesBytesMax / 4 / mutateBodyBytes }, () =>
      sync.begin('/sync/mutate', caller(ada), mutateBodyBytes),
    );
    try {
      const refused = await eventually(async () => {
        const answer = await sendLarge(ada, home);
        return answer.status === 503 ? answer : null;
      });
      assert.match(refused.headers.get('retry-after') ?? '', /^[1-5]$/);
      const answer = await sendLarge(bob, office);
      assert.equal(answer.status, 200);
      assert.equal(((await answer.json()) as { success: boolean }).success, true);
    } finally {
      for (const one of sending) one.destroy();
    }
    await eventually(async () => (await sendLarge(ada, home)).status === 200);
  });
});
