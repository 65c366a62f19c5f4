import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { fetchPostgres, openTestPostgres, testDatabase } from '@wts/testkit';
import { CommitEngine } from '../src/commit/engine.ts';
import { PLANS } from '../src/store/prepared.ts';
import { applied, change, TestEngines } from './test-engines.ts';

const silent = createLogger({ name: 'test', level: 'silent' });

/*
 * PostgreSQL built with LLVM compiles a statement that it estimates as expensive, which takes hundreds of milliseconds. Debian's
 * is built with it, the npm package's is not. These tests count compiled functions, not milliseconds.
 */
describe('a commit on PostgreSQL 15 with JIT', function () {
  let stack: AsyncDisposableStack;
  let engines: TestEngines;

  before(async function () {
    const programs = await fetchPostgres('postgresql-15');
    if (programs === null) return this.skip();
    stack = new AsyncDisposableStack();
    const settings = { jit: 'on', shared_preload_libraries: 'pg_stat_statements' };
    const server = stack.use(await openTestPostgres('jit', { programs, settings }));
    const database = await testDatabase('jit', { adminUrl: server.url() });
    engines = stack.use(TestEngines.on(database, 2));
    // That of the other services takes a process of each.
    const directory = join(import.meta.dirname, '../src/migrations');
    await migrate({ url: database.urlOf('wts_sync'), schema: 'sync', directory, log: silent });
  });
  after(() => stack?.disposeAsync());

  async function compiledBy(work: () => Promise<unknown>): Promise<unknown> {
    await using opened = new AsyncDisposableStack();
    const { url } = engines.database;
    const { pool } = openPostgres({ url, poolMax: 1, applicationName: 'test', log: silent, stack: opened });
    await pool.query('create extension if not exists pg_stat_statements');
    await pool.query('select pg_stat_statements_reset()');
    await work();
    // Statements inside a function count for the statement that called it. The list of closed workspaces is read every two seconds, by no commit.
    const { rows } = await pool.query<{ query: string; functions: string }>(
      `select query, jit_functions::text as functions from pg_stat_statements
        where jit_functions > 0 and query not like '%sync.workspace_moves%'`,
    );
    return rows;
  }

  const workOf = async (): Promise<void> => {
    const ada = await engines.person();
    const workspaceId = await engines.workspace(ada);
    const team = await engines.join(workspaceId, 'member');
    const id = randomUUID();
    for (const unit of [
      ada.unit(change('INSERT', 'Project', id, { workspaceId, key: 'P', name: 'P' })),
      team.unit(change('INSERT', 'Task', randomUUID(), { workspaceId, projectId: id, title: 'x' })),
      ada.unit(change('UPDATE', 'Project', id, { isPrivate: true })),
      ada.unit(change('DELETE', 'Project', id, {})),
    ]) {
      applied(await engines.send(unit));
    }
  };

  it('compiles no function', async () => {
    assert.deepEqual(await compiledBy(workOf), []);
    const { rows } = await engines.pool.query<{ jit: string }>('show jit');
    assert.equal(rows[0]?.jit, 'off');
  });

  it('has estimated costs below the threshold of JIT, so nothing is compiled even with JIT on', async () => {
    await using opened = new AsyncDisposableStack();
    const { pool } = openPostgres({
      url: engines.database.urlOf('wts_sync'),
      poolMax: 4,
      applicationName: 'compiling',
      pipeline: true,
      settings: { ...PLANS, jit: 'on' },
      log: silent,
      stack: opened,
    });
    const engine = new CommitEngine({ pool });
    const ada = await engines.person();
    const workspaceId = await engines.workspace(ada);
    const tasks = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) {
        const task = change('INSERT', 'Task', randomUUID(), { workspaceId, title: 'x' });
        assert.ok((await engines.send(ada.unit(task), engine)).ok);
      }
    };
    assert.deepEqual(await compiledBy(tasks), []);
  });
});
