import assert from 'node:assert/strict';
import type { Fault } from '@wts/contracts';
import { addressGuard, openResolver } from '@wts/service-kit/egress';
import { eventually, receiver, testAuthority, type Receiver } from '@wts/testkit';
import { openClientDocuments, type ClientDocuments } from '../src/oauth/client-documents.ts';
import { assertRefused, OAuthSystem, REDIRECT_URI } from './oauth-system.ts';

describe('a client whose id is the address of its metadata', () => {
  const stack = new AsyncDisposableStack();
  let site: Receiver;
  let open: (fetchMs?: number, foundMs?: number) => ClientDocuments;
  before(async () => {
    const authority = await testAuthority();
    site = stack.use(await receiver({ identity: await authority.issue() }));
    const network = { guard: addressGuard(['127.0.0.0/8']), resolver: openResolver({ servers: [] }) };
    open = (fetchMs = 5_000, foundMs) =>
      openClientDocuments({
        ...network,
        extraCaFile: authority.caFile,
        fetchMs,
        ...(foundMs === undefined ? {} : { foundMs }),
      });
  });
  after(() => stack.disposeAsync());

  const sender = (network = 'one') => ({ network, signal: new AbortController().signal });
  const addressOf = (path: string): string => `${site.url}${path}`;
  /** What the site serves at this path from now on, with the client that comes of it. */
  const find = (path: string, document: unknown, more: object = {}) => {
    site.answer({ status: 200, body: JSON.stringify(document), ...more });
    return open().find(addressOf(path), sender());
  };
  const documentAt = (path: string, more: object = {}) => ({
    client_id: addressOf(path),
    client_name: 'App',
    redirect_uris: [REDIRECT_URI],
    ...more,
  });

  it('is a public client with the metadata of the document, which is fetched once', async () => {
    site.answer({ status: 200, body: JSON.stringify(documentAt('/app')) });
    const documents = open();
    const before = site.received.length;
    const clients = await Promise.all(
      ['one', 'one', 'two'].map((network) => documents.find(addressOf('/app'), sender(network))),
    );
    assert.deepEqual(clients[0], {
      id: addressOf('/app'),
      secretHash: null,
      name: 'App',
      redirectUris: [REDIRECT_URI],
      authMethod: 'none',
      grantTypes: ['authorization_code'],
      applicationType: null,
    });
    assert.deepEqual(await documents.find(addressOf('/app'), sender()), clients[2]);
    assert.equal(site.received.length - before, 1);
    assert.equal(site.received.at(-1)?.method, 'GET');
  });

  it('is refused when the document is another one, or not as it must be', async () => {
    assert.ok(await find('/app', documentAt('/app')));
    for (const document of [
      documentAt('/other'),
      { ...documentAt('/app'), client_id: undefined },
      documentAt('/app', { redirect_uris: [] }),
      documentAt('/app', { redirect_uris: ['javascript:alert(1)'] }),
      documentAt('/app', { token_endpoint_auth_method: 'client_secret_basic' }),
      documentAt('/app', { padding: 'x'.repeat(16 * 1024) }),
      [],
      null,
    ]) {
      assert.equal(await find('/app', document), null, JSON.stringify(document).slice(0, 200));
    }
    assert.equal(await find('/app', documentAt('/app'), { status: 404 }), null);
    const location = { headers: { location: addressOf('/app') } };
    assert.equal(await find('/moved', documentAt('/moved'), { status: 302, ...location }), null);
  });

  it('is unavailable for a moment, and not refused, while the host of the document fails', async () => {
    const failures = [{ status: 503 }, { status: 500 }, { status: 429 }, 'reset', 'hang'] as const;
    for (const failure of failures) {
      const documents = open(failure === 'hang' ? 100 : undefined);
      const before = site.received.length;
      site.answer(failure);
      for (let n = 0; n < 3; n += 1) {
        await assert.rejects(documents.find(addressOf('/app'), sender()), (fault: Fault) => {
          assert.match(fault.publicMessage ?? '', /does not answer now/);
          assert.equal(fault.code, 'unavailable');
          assert.ok(Number(fault.retryAfterSeconds) >= 1 && Number(fault.retryAfterSeconds) <= 10);
          return true;
        });
      }
      assert.ok(site.received.length - before <= 1, 'asked again only after a moment');
    }
    const closed = await receiver();
    await closed[Symbol.asyncDispose]();
    const address = `${closed.url.replace('http:', 'https:')}/app`;
    await assert.rejects(open().find(address, sender()), { code: 'unavailable' });
    // A name of a private network, as one that does not exist: the answer does not show which names exist.
    const resolver = { ...openResolver({ servers: [] }), resolve: async () => ['127.0.0.1'] };
    const documents = openClientDocuments({ guard: addressGuard(), resolver });
    await assert.rejects(documents.find('https://app.example.com/app', sender()), { code: 'unavailable' });
  });

  it('stays what it was while its document cannot be fetched, until a document says otherwise', async () => {
    const documents = open(undefined, 0);
    site.answer({ status: 200, body: JSON.stringify(documentAt('/app')) });
    const client = await documents.find(addressOf('/app'), sender());
    assert.ok(client);
    site.answer({ status: 503 });
    const before = site.received.length;
    // More of one network than may wait, so the next one of it is refused immediately.
    const flood = Array.from({ length: 100 }, (_, n) =>
      documents.find(addressOf(`/other-${n}`), sender()).catch(() => null),
    );
    assert.deepEqual(await documents.find(addressOf('/app'), sender()), client, 'no fetch was possible');
    await Promise.all(flood);
    assert.ok(site.received.slice(before).every(({ path }) => path !== '/app'));
    assert.deepEqual(await documents.find(addressOf('/app'), sender()), client, 'its host fails');
    const other = open(undefined, 0);
    assert.ok(await find('/app', documentAt('/app')));
    assert.ok(await other.find(addressOf('/app'), sender()));
    site.answer({ status: 404 });
    assert.equal(await other.find(addressOf('/app'), sender()), null);
    assert.equal(await other.find(addressOf('/app'), sender()), null);
  });

  it('is fetched again in time also after the clock was set back', async () => {
    const documents = open(undefined, 50);
    site.answer({ status: 200, body: JSON.stringify(documentAt('/clock')) });
    assert.equal((await documents.find(addressOf('/clock'), sender()))?.name, 'App');
    site.answer({ status: 200, body: JSON.stringify(documentAt('/clock', { client_name: 'Renamed' })) });
    const { now } = Date;
    Date.now = () => now() - 3_600_000;
    try {
      await eventually(async () => (await documents.find(addressOf('/clock'), sender()))?.name === 'Renamed');
    } finally {
      Date.now = now;
    }
  });

  it('is found while another network names many slow addresses, of which a few are fetched at a time', async () => {
    const documents = open();
    const before = site.received.length;
    site.answer(({ path }) => (path === '/app' ? { status: 200, body: JSON.stringify(documentAt('/app')) } : 'hang'));
    const leaving = new AbortController();
    const slow = { network: 'slow', signal: leaving.signal };
    const all = Array.from({ length: 100 }, (_, n) => documents.find(addressOf(`/slow-${n}`), slow));
    // The first four end with their time, after this test.
    void Promise.allSettled(all);
    await site.until((received) => received.length - before === 4);
    assert.ok(await documents.find(addressOf('/app'), sender('other')));
    assert.equal(site.received.length - before, 5);
    leaving.abort();
    await Promise.all(all.slice(4).map((waiting) => assert.rejects(waiting)));
  });

  it('has an address of one spelling, with a path, https and no user name', async () => {
    const before = site.received.length;
    for (const address of [
      site.url,
      addressOf('/'),
      addressOf('/a/../app'),
      addressOf('/app#x'),
      addressOf('/app').replace('https:', 'HTTPS:'),
      addressOf('/app').replace('https:', 'http:'),
      addressOf('/app').replace('//', '//user@'),
    ]) {
      assert.equal(await open().find(address, sender()), null, address);
    }
    assert.equal(site.received.length, before);
  });

  it('is off by default, never fetched from a private network, and 503 with advice to retry during an outage', async () => {
    await using system = await OAuthSystem.open('documents');
    system.replicas.push(await system.start({ CLIENT_ID_METADATA_DOCUMENTS: 'on' }));
    site.answer({ status: 200, body: JSON.stringify(documentAt('/app')) });
    const before = site.received.length;
    for (const [replica, isOffered] of [
      [0, undefined],
      [1, true],
    ] as const) {
      const { body } = await system.send('/.well-known/oauth-authorization-server', {}, replica);
      assert.equal(body['client_id_metadata_document_supported'], isOffered);
      const form = { grant_type: 'refresh_token', client_id: addressOf('/app') };
      assertRefused(await system.token(form, {}, replica), 'invalid_client');
    }
    assert.equal(site.received.length, before);
    // No host has this name (RFC 6761), so its document cannot be fetched.
    const client_id = 'https://app.invalid/client';
    const refused = await system.token({ grant_type: 'refresh_token', client_id }, {}, 1);
    assertRefused(refused, 'unavailable');
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    const page = await fetch(`${system.replicas[1]?.url}/authorize?${new URLSearchParams({ client_id }).toString()}`);
    assert.deepEqual([page.status, page.headers.get('content-type')], [503, 'text/html; charset=utf-8']);
    assert.ok(Number(page.headers.get('retry-after')) >= 1);
    assert.match(await page.text(), /does not answer now/);
  });
});
