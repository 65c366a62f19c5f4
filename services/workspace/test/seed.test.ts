import { createApiKey, readApiKey } from '@wts/access';
import { workspaceApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SECRET } from './stage.ts';
import type { TestService } from './test-service.ts';
import { openTestService, SERVICE, sessionOf } from './test-service.ts';

const run = promisify(execFile);

interface Demo {
  readonly userId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
}

describe('the seed', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const seed = async (settings: Record<string, string> = {}): Promise<Demo> => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '../src/seed.ts')], {
      env: {
        LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'],
        DATABASE_URL: testService.stage.databaseUrl,
        SYNC_URL: testService.stage.syncUrl,
        INTERNAL_TOKEN_SECRET: SECRET,
        ...settings,
      },
    });
    assert.equal(stdout.trim().split('\n').length, 1, 'one line on stdout');
    return JSON.parse(stdout) as Demo;
  };
  const scopesOf = async (token: string): Promise<readonly string[] | undefined> => {
    const body = { tokenHash: readApiKey(token, 'wts_')?.hash ?? '' };
    return (await testService.ask(SERVICE, workspaceApi.internalResolveApiKey, { body })).body.principal?.scopes;
  };

  it('makes one demo, however often and however many at once, with the keys it is given', async () => {
    const wished = { SEED_API_KEY: createApiKey('wts_').token, SEED_READ_ONLY_API_KEY: createApiKey('wts_').token };
    const demos = await Promise.all([seed(wished), seed(wished), seed(wished)]);
    const [demo] = demos;
    assert.ok(demo);
    for (const other of [...demos, await seed(wished)]) assert.deepEqual(other, demo);
    assert.deepEqual([demo.apiKey, demo.readOnlyApiKey], [wished.SEED_API_KEY, wished.SEED_READ_ONLY_API_KEY]);
    assert.deepEqual(await scopesOf(demo.apiKey), ['read', 'write', 'admin']);
    assert.deepEqual(await scopesOf(demo.readOnlyApiKey), ['read']);
    const { body } = await testService.ask(sessionOf(demo.userId), workspaceApi.listWorkspaces, {});
    assert.deepEqual(
      body.workspaces.map(({ id, urlKey, role }) => ({ id, urlKey, role })),
      [{ id: demo.workspaceId, urlKey: 'demo', role: 'owner' }],
    );
    const tasks = await testService.stage.sql(`select number from sync.tasks where workspace_id = $1 order by number`, [
      demo.workspaceId,
    ]);
    assert.deepEqual(
      tasks.map(({ number }) => number),
      [1, 2, 3],
    );
  });

  it('makes new keys when it is given none, or ones that are no good', async () => {
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
    const resolved = await testService.ask(SERVICE, workspaceApi.internalResolvePerson, { body });
    assert.equal(resolved.body.userId, userId);
  });
});
