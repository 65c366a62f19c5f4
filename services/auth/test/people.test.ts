import { generateApiKey } from '@wts/access';
import { credentialApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, SERVICE, type TestService } from './test-service.ts';

describe('people', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const resolve = async (claims: { issuer?: string; subject: string; [claim: string]: unknown }): Promise<string> => {
    const body = { issuer: 'https://issuer.example', ...claims };
    const answer = await testService.call(SERVICE, credentialApi.internalResolvePerson, { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.userId;
  };
  const profileOf = (userId: string): Promise<object | undefined> => testService.recordOf(userId);

  it('are created at their first request and found at later ones [authentication.jwt.person]', async () => {
    const subject = randomUUID();
    const claims = { name: 'Ada Lovelace', email: 'ada@example.com', avatarUrl: 'https://example.com/ada.png' };
    const userId = await resolve({ subject, ...claims });
    assert.equal(await resolve({ subject, name: 'Another Name' }), userId);
    assert.deepEqual(await profileOf(userId), claims);
  });

  it('are created once by parallel first requests [authentication.jwt.person]', async () => {
    const subject = randomUUID();
    const ids = await Promise.all(Array.from({ length: 16 }, (_, n) => resolve({ subject, name: `Racer ${n}` })));
    assert.equal(new Set(ids).size, 1);
    assert.match(JSON.stringify(await profileOf(ids[0]!)), /Racer \d+/);
  });

  it('are never found by their address', async () => {
    const email = `${randomUUID()}@example.com`;
    const first = await resolve({ subject: randomUUID(), email, emailVerified: true });
    const second = await resolve({ subject: randomUUID(), email, emailVerified: true });
    assert.notEqual(first, second);
  });

  it('are shown with an address that another person has only when it is verified [authentication.people.address]', async () => {
    const email = `${randomUUID()}@example.com`;
    const emailOf = async (claims: object): Promise<unknown> =>
      ((await profileOf(await resolve({ subject: randomUUID(), ...claims }))) as { email: string | null }).email;
    assert.equal(await emailOf({ email, emailVerified: true }), email);
    for (const look of [email, email.toUpperCase()]) {
      assert.equal(await emailOf({ email: look, emailVerified: false }), null);
      assert.equal(await emailOf({ email: look }), null);
      assert.equal(await emailOf({ email: look, emailVerified: true }), look);
    }
    const other = `other-${email}`;
    assert.equal(await emailOf({ email: other }), other);
  });

  it('of two issuers differ, also when issuer and subject concatenate to the same text', async () => {
    const [subject, issuer] = [randomUUID(), 'https://issuer.example/a'];
    const first = await resolve({ issuer, subject: `b${subject}` });
    assert.notEqual(await resolve({ issuer: `${issuer}b`, subject }), first);
  });

  it('can sign in with any claims of their provider', async () => {
    const claims = { name: 'x'.repeat(5000), email: 'not an address', avatarUrl: 'javascript:alert(1)' };
    const userId = await resolve({ subject: randomUUID(), ...claims });
    assert.deepEqual(await profileOf(userId), { name: 'x'.repeat(200), email: null, avatarUrl: null });
    const nameless = await resolve({ subject: 's'.repeat(255), issuer: `https://issuer.example/${'é'.repeat(1900)}` });
    assert.deepEqual(await profileOf(nameless), { name: 'Unnamed', email: null, avatarUrl: null });
  });

  it('have the addresses that their providers verified, which only the workspace service reads', async () => {
    const email = `${randomUUID()}@example.com`;
    const subject = randomUUID();
    const userId = await resolve({ subject, email, emailVerified: true });
    const addresses = async (who: string): Promise<readonly string[]> =>
      (await testService.call(SERVICE, credentialApi.internalListAddresses, { body: { userId: who } })).body.addresses;
    assert.deepEqual(await addresses(userId), [email]);
    await resolve({ subject, email: `new-${email}` });
    assert.deepEqual(await addresses(userId), []);
    assert.deepEqual(await addresses(randomUUID()), []);
    const outside = await testService.call(await testService.person(), credentialApi.internalListAddresses, {
      body: { userId },
    });
    assert.equal(outside.code, 'token_invalid');
  });

  it('are resolved only for services [authentication.internal.token]', async () => {
    const { token } = generateApiKey('wts_');
    for (const headers of [{}, { 'x-wts-principal': 'forged' }, { authorization: `Bearer ${token}` }]) {
      const answer = await fetch(`${testService.service.url}/internal/people/resolve`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
        body: JSON.stringify({ issuer: 'a', subject: 'b' }),
      });
      assert.equal(answer.status, 401);
    }
  });
});
