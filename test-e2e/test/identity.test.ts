import type { Reply, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { IdentityProvider, newKey } from './identity-provider.ts';
import { openShared } from './shared-system.ts';

describe('people of a real identity provider', () => {
  const [first, second] = [newKey('first'), newKey('second')];
  let provider: IdentityProvider;
  let testSystem: TestSystem;
  before(async () => {
    ({ testSystem, provider } = await openShared());
    await provider.start([first, second]);
  });
  after(() => provider.stop());

  const request = (token: string, path = '/api/workspaces'): Promise<Reply> => testSystem.request(token, 'GET', path);
  const statusOf = async (token: string): Promise<number> => (await request(token)).status;

  it('are created at their first request with the name in their token, and remain the same person [authentication.jwt.person]', async () => {
    const tokens = [await provider.signIn('ben'), await provider.signIn('ben')];
    assert.notEqual(tokens[0], tokens[1]);
    const made = await Promise.all(tokens.map((token) => request(token, '/sync/bootstrap')));
    const people = made.map(({ text }) => {
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      return lines.filter((line) => line['__class'] === 'User').map(({ id, name, email }) => ({ id, name, email }));
    });
    assert.equal(people[0]?.[0]?.name, 'Person ben');
    assert.equal(people[0]?.[0]?.email, 'ben@example.com');
    assert.deepEqual(people[0], people[1]);
  });

  it('have access after a key change of their provider, and not with keys of another provider [authentication.jwt.strict]', async () => {
    const otherProvider = await IdentityProvider.plan([newKey('first')]);
    await otherProvider.start();
    const before = await provider.signIn('emma');
    const foreign = await otherProvider.signIn('emma');
    await otherProvider.stop();
    assert.equal(await statusOf(foreign), 401);
    await provider.start([second, first]);
    const changed = await provider.signIn('emma');
    assert.equal(headerOf(changed).kid, 'second');
    // The key was published before its first use, so the gateway has it.
    assert.equal(await statusOf(changed), 200);
    assert.equal(await statusOf(before), 200, 'tokens are valid as long as their key is published');
  });
});

function headerOf(token: string): { readonly kid?: string } {
  return JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString('utf8')) as { kid?: string };
}
