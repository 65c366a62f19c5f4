import assert from 'node:assert/strict';
import { addressGuard, openResolver } from '@wts/service-kit/egress';
import { receiver, testAuthority } from '@wts/testkit';
import type { Receiver } from '@wts/testkit';
import { openClientDocuments } from '../src/oauth/client-documents.ts';
import type { ClientDocuments } from '../src/oauth/client-documents.ts';
import { assertRefused, OAuthSystem, REDIRECT_URI } from './oauth-system.ts';

describe('a client whose id is the address of its metadata', () => {
  const stack = new AsyncDisposableStack();
  let site: Receiver;
  let open: (fetchMs?: number) => ClientDocuments;
  before(async () => {
    const authority = await testAuthority();
    site = stack.use(await receiver({ identity: await authority.issue() }));
    const network = { guard: addressGuard(['127.0.0.0/8']), resolver: openResolver({ servers: [] }) };
    open = (fetchMs = 5_000) => openClientDocuments({ ...network, extraCaFile: authority.caFile, fetchMs });
  });
  after(() => stack.disposeAsync());

  const addressOf = (path: string): string => `${site.url}${path}`;
  /** What the site serves at this path from now on, with the client that comes of it. */
  const find = (path: string, document: unknown, more: object = {}) => {
    site.answer({ status: 200, body: JSON.stringify(document), ...more });
    return open().find(addressOf(path));
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
    const clients = await Promise.all([1, 2, 3].map(() => documents.find(addressOf('/app'))));
    assert.deepEqual(clients[0], {
      id: addressOf('/app'),
      secretHash: null,
      name: 'App',
      redirectUris: [REDIRECT_URI],
      authMethod: 'none',
      grantTypes: ['authorization_code'],
      applicationType: null,
    });
    assert.deepEqual(await documents.find(addressOf('/app')), clients[2]);
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
    site.answer('reset');
    assert.equal(await open().find(addressOf('/app')), null);
  });

  it('is refused when the document takes too long', async () => {
    site.answer('hang');
    assert.equal(await open(100).find(addressOf('/app')), null);
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
      assert.equal(await open().find(address), null, address);
    }
    assert.equal(site.received.length, before);
  });

  it('is off by default, and never fetched from a private network', async () => {
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
  });
});
