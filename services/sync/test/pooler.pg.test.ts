import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startService, type RunningService } from '@wts/service-kit/life';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { eventually, openPgBouncer, testDatabase, tokenEnvironment } from '@wts/testkit';
import type { PgBouncer, PoolMode, TestDatabase } from '@wts/testkit';
import { syncService } from '../src/service.ts';
import { TestSyncService } from './test-sync-service.ts';

const silent = createLogger({ name: 'test', level: 'silent' });
const MIXED: readonly (readonly [string, PoolMode, readonly string[]])[] = [
  ['that takes the session used last', 'transaction', []],
  ['that takes its sessions in turn', 'transaction', ['server_round_robin = 1']],
  ['with a single session', 'transaction', ['default_pool_size = 1']],
  ['that ignores unknown parameters', 'transaction', ['ignore_startup_parameters = options,statement_timeout']],
  ['that mixes statements', 'statement', []],
];

describe('behind PgBouncer', function () {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  before(async () => (database = await testDatabase('mixed')));
  after(() => database.drop());
  beforeEach(() => (stack = new AsyncDisposableStack()));
  afterEach(() => stack.disposeAsync());

  const openPooler = async (
    context: Mocha.Context,
    { urlOf }: TestDatabase,
    mode: PoolMode,
    settings: readonly string[] = [],
  ): Promise<PgBouncer> => stack.use(await openPgBouncer(context, { mode, urls: [urlOf('wts_sync')], settings }));

  it('in session mode the service works without other settings', async function () {
    const sync = stack.use(await TestSyncService.open('pgbouncer'));
    const bouncer = await openPooler(this, sync.database, 'session', ['default_pool_size = 40']);
    await sync.restart(async () => ({ DATABASE_URL: bouncer.through(sync.database.urlOf('wts_sync')) }));
    const ada = await sync.person();
    const workspaceId = await sync.workspace(ada);
    // More in parallel than one batch takes, so that several connections commit.
    const write = async (): Promise<number> => {
      const payload = { workspaceId, title: 'x' };
      const task = () => ({ modelName: 'Task', modelId: randomUUID(), action: 'INSERT', payload });
      const answer = await sync.mutate(ada, Array.from({ length: 20 }, task));
      assert.equal(answer.status, 200, await answer.clone().text());
      const { results } = (await answer.json()) as { results: { success: boolean }[] };
      return results.filter(({ success }) => success).length;
    };
    const written = await Promise.all(Array.from({ length: 12 }, write));
    assert.deepEqual([...new Set(written)], [20]);
    const { rows } = await sync.bootstrap(ada);
    assert.equal(rows.filter(({ __class }) => __class === 'Task').length, 240);
  });

  for (const [what, mode, settings] of MIXED) {
    it(`a pooler ${what} is refused at the start, with a message`, async function () {
      const bouncer = await openPooler(this, database, mode, settings);
      const start = (): Promise<RunningService> =>
        startService(syncService, {
          LOG_LEVEL: 'fatal',
          ...tokenEnvironment('sync'),
          DATABASE_URL: bouncer.through(database.urlOf('wts_sync')),
          NATS_URL: 'nats://127.0.0.1:9',
          AUTH_SERVICE_URL: 'http://127.0.0.1:9',
        });
      // A service starts with a server that does not reply within seconds, as on a busy machine, and checks it later.
      const refusal = await eventually(async () => {
        try {
          await (await start()).close();
          return null;
        } catch (error) {
          return error as Error;
        }
      });
      assert.match(refusal.message, /mixes sessions .*pool_mode = session/);
    });
  }

  it('migrations through mixed sessions are refused, and leave no lock that blocks later ones', async function () {
    const bouncer = await openPooler(this, database, 'transaction');
    const url = database.urlOf('wts_sync');
    const options = { directory: join(import.meta.dirname, '../src/migrations'), schema: 'sync', log: silent };
    await assert.rejects(migrate({ ...options, url: bouncer.through(url) }), /mixes sessions/);
    assert.ok((await migrate({ ...options, url })).length > 0);
  });
});
