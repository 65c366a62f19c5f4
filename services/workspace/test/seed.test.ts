import { generateApiKey, readApiKey } from '@wts/access';
import { workspaceApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SeededDemo } from '../src/commands/seed-demo.ts';
import { SECRET } from './backends.ts';
import type { TestService } from './test-service.ts';
import { openTestService, SERVICE, sessionOf } from './test-service.ts';

const run = promisify(execFile);

describe('the seed', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const seed = async (settings: Record<string, string> = {}): Promise<SeededDemo> => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '../src/seed.ts')], {
      env: {
        LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'],
        DATABASE_URL: testService.backends.databaseUrl,
        SYNC_SERVICE_URL: testService.backends.syncUrl,
        INTERNAL_TOKEN_SECRET: SECRET,
        ...settings,
      },
    });
    assert.equal(stdout.trim().split('\n').length, 1, 'one line on stdout');
    return JSON.parse(stdout) as SeededDemo;
  };
  const scopesOf = async (token: string): Promise<readonly string[] | undefined> => {
    const body = { tokenHash: readApiKey(token, 'wts_')?.hash ?? '' };
    return (await testService.call(SERVICE, workspaceApi.internalResolveApiKey, { body })).body.principal?.scopes;
  };

  it('creates one demo with the given keys, in any number of runs, also in parallel', async () => {
    const given = { SEED_API_KEY: generateApiKey('wts_').token, SEED_READ_ONLY_API_KEY: generateApiKey('wts_').token };
    const demos = await Promise.all([seed(given), seed(given), seed(given)]);
    const [demo] = demos;
    assert.ok(demo);
    for (const other of [...demos, await seed(given)]) assert.deepEqual(other, demo);
    assert.deepEqual([demo.apiKey, demo.readOnlyApiKey], [given.SEED_API_KEY, given.SEED_READ_ONLY_API_KEY]);
    assert.deepEqual(await scopesOf(demo.apiKey), ['read', 'write', 'admin']);
    assert.deepEqual(await scopesOf(demo.readOnlyApiKey), ['read']);
    const { body } = await testService.call(sessionOf(demo.userId), workspaceApi.listWorkspaces, {});
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

  it('creates new keys when it gets none or invalid ones', async () => {
    const demo = await seed();
    const again = await seed({ SEED_API_KEY: `${demo.apiKey}x`, SEED_READ_ONLY_API_KEY: demo.apiKey });
    assert.deepEqual([again.userId, again.workspaceId], [demo.userId, demo.workspaceId]);
    assert.notEqual(again.apiKey, `${demo.apiKey}x`);
    assert.deepEqual(await scopesOf(again.readOnlyApiKey), ['read']);
  });

  it('lets the demo owner sign in with tokens of an issuer, by their id', async () => {
    const issuer = 'https://local.example';
    const { userId } = await seed({ SEED_ISSUER: issuer });
    const body = { issuer, subject: userId };
    const resolved = await testService.call(SERVICE, workspaceApi.internalResolvePerson, { body });
    assert.equal(resolved.body.userId, userId);
  });
});
