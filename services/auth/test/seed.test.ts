import { generateApiKey } from '@wts/access';
import { credentialApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { SeededOwner } from '../src/commands/seed-demo.ts';
import { openTestPages, type TestPages } from './people.ts';
import { openTestService, SERVICE, type TestService } from './test-service.ts';

const PROGRAM = join(import.meta.dirname, '../src/seed.ts');
const DEMO = { email: 'demo@example.com' };

describe('the seed', () => {
  let testService: TestService;
  let pages: TestPages;
  before(async () => {
    testService = await openTestService();
    pages = await openTestPages();
  });
  after(() => pages.testService.service.close());

  const seed = (settings: Record<string, string>): Promise<SeededOwner> =>
    testService.seed(PROGRAM, { PASSWORD_COST_LOG2: '14', ...settings });

  it('creates one owner with what it is given, or with new keys, in any number of runs, also in parallel', async () => {
    const issuer = 'https://local.example';
    const given = {
      SEED_API_KEY: generateApiKey('wts_').token,
      SEED_READ_ONLY_API_KEY: generateApiKey('wts_').token,
      SEED_PASSWORD: 'first password',
      SEED_ISSUER: issuer,
    };
    const [owner, twin] = await Promise.all([seed(given), seed(given)]);
    assert.deepEqual(twin, owner);
    assert.deepEqual([owner.apiKey, owner.readOnlyApiKey], [given.SEED_API_KEY, given.SEED_READ_ONLY_API_KEY]);
    assert.deepEqual((await testService.resolveKey(owner.apiKey))?.scopes, ['read', 'write', 'admin']);
    assert.deepEqual((await testService.resolveKey(owner.readOnlyApiKey))?.scopes, ['read']);
    assert.equal((await testService.recordOf(owner.userId))?.['name'], 'Demo Owner');
    const body = { issuer, subject: owner.userId };
    const resolved = await testService.call(SERVICE, credentialApi.internalResolvePerson, { body });
    assert.equal(resolved.body.userId, owner.userId, 'by tokens of the issuer');
    await signsIn(owner, 'first password');

    // One of the other kind is no read-only key, an invalid one is none, and the account gets the other password.
    const more = { SEED_API_KEY: `${owner.apiKey}x`, SEED_READ_ONLY_API_KEY: owner.apiKey };
    const again = await seed({ ...given, ...more, SEED_PASSWORD: 'second password' });
    assert.equal(again.userId, owner.userId);
    assert.deepEqual((await testService.resolveKey(again.apiKey))?.scopes, ['read', 'write', 'admin']);
    assert.deepEqual((await testService.resolveKey(again.readOnlyApiKey))?.scopes, ['read']);
    await signsIn(again, 'second password');
    const { email } = DEMO;
    assert.equal((await pages.browser().submit('/sign-in', { email, password: 'first password' })).status, 422);
  });

  async function signsIn({ userId, person }: SeededOwner, password: string): Promise<void> {
    assert.deepEqual(person, { ...DEMO, password });
    const browser = pages.browser();
    const signedIn = await browser.submit('/sign-in', { ...DEMO, password });
    assert.equal(signedIn.status, 303, signedIn.text);
    assert.match((await browser.get('/account')).text, /<h1><bdi>Demo Owner<\/bdi><\/h1>/);
    const identity = `select user_id from auth.identities where issuer = 'wts:accounts' and user_id = $1`;
    assert.equal((await testService.backends.sql(identity, [userId])).length, 1);
  }
});
