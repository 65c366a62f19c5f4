import { generateApiKey, readApiKey } from '@wts/access';
import { credentialApi } from '@wts/contracts';
import { nodeEnvironment, tokenEnvironment } from '@wts/testkit';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SeededOwner } from '../src/commands/seed-demo.ts';
import { openTestPages } from './people.ts';
import type { TestService } from './test-service.ts';
import { openTestService, SERVICE } from './test-service.ts';

const run = promisify(execFile);

describe('the seed', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const seed = async (settings: Record<string, string> = {}): Promise<SeededOwner> => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '../src/seed.ts')], {
      env: {
        ...nodeEnvironment(),
        DATABASE_URL: testService.backends.databaseUrl,
        SYNC_SERVICE_URL: testService.backends.syncUrl,
        ...tokenEnvironment('auth'),
        ...settings,
      },
    });
    assert.equal(stdout.trim().split('\n').length, 1, 'one line on stdout');
    return JSON.parse(stdout) as SeededOwner;
  };
  const scopesOf = async (token: string): Promise<readonly string[] | undefined> => {
    const body = { tokenHash: readApiKey(token, 'wts_')?.hash ?? '' };
    return (await testService.call(SERVICE, credentialApi.internalResolveApiKey, { body })).body.principal?.scopes;
  };

  it('creates one owner with the given keys, in any number of runs, also in parallel', async () => {
    const given = { SEED_API_KEY: generateApiKey('wts_').token, SEED_READ_ONLY_API_KEY: generateApiKey('wts_').token };
    const owners = await Promise.all([seed(given), seed(given)]);
    const [owner] = owners;
    assert.ok(owner);
    for (const other of [...owners, await seed(given)]) assert.deepEqual(other, owner);
    assert.deepEqual([owner.apiKey, owner.readOnlyApiKey], [given.SEED_API_KEY, given.SEED_READ_ONLY_API_KEY]);
    assert.deepEqual(await scopesOf(owner.apiKey), ['read', 'write', 'admin']);
    assert.deepEqual(await scopesOf(owner.readOnlyApiKey), ['read']);
    const person = await testService.recordOf(owner.userId);
    assert.equal(person?.['name'], 'Demo Owner');
  });

  it('creates new keys when it gets none or invalid ones', async () => {
    const owner = await seed();
    const again = await seed({ SEED_API_KEY: `${owner.apiKey}x`, SEED_READ_ONLY_API_KEY: owner.apiKey });
    assert.equal(again.userId, owner.userId);
    assert.notEqual(again.apiKey, `${owner.apiKey}x`);
    assert.deepEqual(await scopesOf(again.readOnlyApiKey), ['read']);
  });

  it('gives the demo owner an account with the given password, in any number of runs, also in parallel', async () => {
    const pages = await openTestPages();
    const costs = { PASSWORD_COST_LOG2: '14' };
    const passwords = ['first password', 'second password'];
    for (const password of passwords) {
      const [owner] = await Promise.all([1, 2].map(() => seed({ ...costs, SEED_PASSWORD: password })));
      assert.deepEqual(owner?.person, { email: 'demo@example.com', password });
      const browser = pages.browser();
      const signedIn = await browser.submit('/sign-in', owner.person);
      assert.equal(signedIn.status, 303, signedIn.text);
      assert.match((await browser.get('/account')).text, /<h1><bdi>Demo Owner<\/bdi><\/h1>/);
      const identity = `select user_id from auth.identities where issuer = 'wts:accounts' and user_id = $1`;
      assert.equal((await testService.backends.sql(identity, [owner.userId])).length, 1);
    }
    const answer = await pages
      .browser()
      .submit('/sign-in', { email: 'demo@example.com', password: passwords[0] ?? '' });
    assert.equal(answer.status, 422);
    await pages.testService.service.close();
  });

  it('lets the demo owner sign in with tokens of an issuer, by their id', async () => {
    const issuer = 'https://local.example';
    const { userId } = await seed({ SEED_ISSUER: issuer });
    const body = { issuer, subject: userId };
    const resolved = await testService.call(SERVICE, credentialApi.internalResolvePerson, { body });
    assert.equal(resolved.body.userId, userId);
  });
});
