import assert from 'node:assert/strict';
import { receiver, testAuthority, type Receiver } from '@wts/testkit';
import { openProviderFetch } from '../src/accounts/provider-fetch.ts';
import { openServer } from './open-server.ts';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

describe('a request to an identity provider', () => {
  const stack = new AsyncDisposableStack();
  let endpoint: Receiver;
  let extraCaFile: string;
  before(async () => {
    const authority = await testAuthority();
    endpoint = stack.use(await receiver({ identity: await authority.issue() }));
    extraCaFile = authority.caFile;
  });
  after(() => stack.disposeAsync());

  const options = () => ({
    method: 'POST',
    headers: { authorization: 'Basic x', accept: 'application/json' },
    body: new URLSearchParams({ code: 'é=1' }),
    signal: AbortSignal.timeout(5_000),
  });

  it('goes to a private address at the origin of the issuer, which the operator configured, and follows no redirect', async () => {
    await using issuer = await openServer((req, res) =>
      res.writeHead(302, { location: `${endpoint.url}/metadata`, 'x-path': req.url ?? '' }).end('moved'),
    );
    const before = endpoint.received.length;
    const answer = await openProviderFetch({ issuer: `${issuer.url}/tenant` }, { extraCaFile })(
      `${issuer.url}/metadata?a=b`,
      options(),
    );
    assert.deepEqual(
      [answer.status, answer.headers.get('x-path'), await answer.text()],
      [302, '/metadata?a=b', 'moved'],
    );
    assert.equal(endpoint.received.length, before);
  });

  it('goes to no private address at another origin, however that is written [never.non-public-address]', async () => {
    const before = endpoint.received.length;
    const { port } = new URL(endpoint.url);
    const send = openProviderFetch({ issuer: 'https://id.example' }, { extraCaFile });
    for (const origin of [
      endpoint.url,
      `https://localhost:${port}`,
      `https://[::ffff:127.0.0.1]:${port}`,
      `https://2130706433:${port}`,
      `http://127.0.0.1:${port}`,
      `https://id.example:22`,
      'https://169.254.169.254',
      'https://10.0.0.1:8443',
      'https://keycloak.auth.svc.cluster.local',
    ]) {
      await assert.rejects(send(`${origin}/token`, options()), /leads to/, origin);
    }
    assert.equal(endpoint.received.length, before);
  });

  it('goes to a private address that the setting allows, with the same form, and reads no endless answer', async () => {
    const send = openProviderFetch({ issuer: 'https://id.example', allowedCidrs: LOOPBACK }, { extraCaFile });
    endpoint.answer({ status: 400, headers: { 'x-answer': 'yes' }, body: '{"error":"invalid_grant"}' });
    const answer = await send(`${endpoint.url}/token`, options());
    assert.deepEqual(
      [answer.status, answer.headers.get('x-answer'), await answer.json()],
      [400, 'yes', { error: 'invalid_grant' }],
    );
    const request = endpoint.received.at(-1);
    assert.deepEqual([request?.method, request?.body], ['POST', 'code=%C3%A9%3D1']);
    assert.equal(request?.headers['authorization'], 'Basic x');
    assert.match(String(request?.headers['content-type']), /^application\/x-www-form-urlencoded/);
    endpoint.answer({ status: 204 });
    assert.equal((await send(`${endpoint.url}/token`, options())).body, null);
    endpoint.answer({ status: 200, body: 'x'.repeat(300_000) });
    await assert.rejects(send(`${endpoint.url}/userinfo`, options()), /more than/);
  });
});
