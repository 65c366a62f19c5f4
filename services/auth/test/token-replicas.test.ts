import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { assertRefused, OAuthSystem } from './oauth-system.ts';

describe('two replicas of the token endpoint', () => {
  let system: OAuthSystem;
  before(async () => (system = await OAuthSystem.open('replicas', 2)));
  after(() => system[Symbol.asyncDispose]());

  const TWENTY = Array.from({ length: 20 }, (_, at) => at);

  it('make one signing key, whichever gets the first request', async () => {
    const sets = await Promise.all(TWENTY.slice(0, 8).map((at) => system.send('/jwks', {}, at % 2)));
    assert.equal(new Set(sets.map(({ body }) => JSON.stringify(body))).size, 1);
    assert.match(JSON.stringify(sets[0]?.body), /^\{"keys":\[\{[^{}]*\}\]\}$/);
  });

  it('exchange a code once in 20 simultaneous requests', async () => {
    const client = await system.client();
    const code = await system.code(client);
    const replies = await Promise.all(TWENTY.map((at) => system.exchange(client, code, {}, at % 2)));
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    for (const reply of replies.filter(({ status }) => status !== 200)) assertRefused(reply, 'invalid_grant');
  });

  it('replace a refresh token once in 20 simultaneous requests', async () => {
    const client = await system.client();
    const { body } = await system.exchange(client, await system.code(client));
    const replies = await Promise.all(TWENTY.map((at) => system.refresh(client, body['refresh_token'], {}, at % 2)));
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    for (const reply of replies.filter(({ status }) => status !== 200)) assertRefused(reply, 'invalid_grant');
  });

  it('with a grace, processes of a client that refresh at the same time get the same token, and no second branch', async () => {
    const replica = system.replicas.push(await system.start({ REFRESH_TOKEN_GRACE_MS: '60000' })) - 1;
    const client = await system.client();
    const code = await system.code(client);
    const { body } = await system.exchange(client, code);
    const refresh = (token: unknown) => system.refresh(client, token, {}, replica);
    const twice = async (token: unknown): Promise<unknown> => {
      const both = await Promise.all([refresh(token), refresh(token)]);
      for (const reply of both) assert.equal(reply.status, 200);
      const [one, other] = both.map((reply) => reply.body['refresh_token']);
      assert.equal(one, other);
      return one;
    };
    const last = await twice(await twice(body['refresh_token']));
    assertRefused(await refresh(body['refresh_token']), 'invalid_grant');
    assertRefused(await refresh(last), 'invalid_grant');
    assert.equal(await system.isInForce(code.userId), false);
  });

  it('lose nothing when both restart in the middle of a flow', async () => {
    const client = await system.client();
    const code = await system.code(client);
    const restart = async (): Promise<void> => {
      for (const replica of system.replicas.splice(0)) await replica.close();
      system.replicas.push(await system.start(), await system.start());
    };
    const keys = (await system.send('/jwks')).body;
    await restart();
    const { status, body } = await system.exchange(client, code);
    assert.equal(status, 200);
    await restart();
    assert.equal((await system.refresh(client, body['refresh_token'], {}, 1)).status, 200);
    assert.deepEqual((await system.send('/jwks')).body, keys);
  });

  it('answer 503 in the common shape while PostgreSQL is down, and work again afterwards', async () => {
    const client = await system.client();
    const code = await system.code(client);
    system.wire.cut();
    for (const reply of [
      await system.exchange(client, code),
      await system.register({ redirect_uris: ['https://a.example'] }),
    ]) {
      assert.deepEqual(
        [reply.status, reply.body['code'], reply.headers.has('retry-after')],
        [503, 'unavailable', true],
      );
    }
    system.wire.mend();
    await eventually(async () => (await system.exchange(client, code)).status === 200);
  });
});
