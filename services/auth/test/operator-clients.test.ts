import { operatorApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { TestOperator } from './operator.ts';
import { openTestPages, type TestPages } from './people.ts';

const DOCUMENT = 'https://client.invalid/app.json';
const REDIRECT = 'https://app.example.com/callback';

describe('where the registration of clients is closed', () => {
  let pages: TestPages;
  let operator: TestOperator;
  before(async () => {
    pages = await openTestPages({ CLIENT_REGISTRATION: 'closed', CLIENT_ID_METADATA_DOCUMENTS: 'on' });
    operator = await TestOperator.of(pages.testService);
  });
  after(() => pages.testService.service.close());

  const send = async (
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await fetch(`${pages.testService.service.url}${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const register = () => {
    const headers = { 'content-type': 'application/json' };
    return send('/register', { method: 'POST', headers, body: JSON.stringify({ redirect_uris: [REDIRECT] }) });
  };
  /** What the token endpoint says of a client, whose code is wrong. */
  const codeOf = async (clientId: string): Promise<unknown> => {
    const form = {
      grant_type: 'authorization_code',
      code: 'wrong',
      client_id: clientId,
      code_verifier: 'v'.repeat(43),
    };
    return (await send('/token', { method: 'POST', body: new URLSearchParams({ ...form, redirect_uri: REDIRECT }) }))
      .body['code'];
  };
  const add = (body: Readonly<Record<string, unknown>>) => operator.call(operatorApi.registerClient, { body });
  const remove = (clientId: string) => operator.call(operatorApi.deleteClient, { query: { clientId } });

  it('a program reads that it should ask the operator, whose clients work and are listed until they are deleted [operator.clients.closed]', async () => {
    const refused = await register();
    assert.deepEqual([refused.status, refused.body['code']], [403, 'forbidden']);
    assert.match(String(refused.body['message']), /operator/);
    const metadata = await send('/.well-known/oauth-authorization-server');
    assert.ok(!('registration_endpoint' in metadata.body));

    const made = await add({ client_name: 'Notes', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' });
    assert.equal(made.status, 201, made.text);
    const { client_id: clientId } = made.body.client;
    assert.equal(await codeOf(clientId), 'invalid_grant');
    const listed = await operator.call(operatorApi.listClients, { query: { text: clientId } });
    assert.deepEqual(
      listed.body.clients.map(({ name, isByOperator, grants }) => [name, isByOperator, grants]),
      [['Notes', true, 0]],
    );
    assert.equal((await remove(clientId)).body.endedGrants, 0);
    assert.equal(await codeOf(clientId), 'invalid_client');
    assert.equal((await remove(clientId)).code, 'not_found');
    const kinds = await pages.testService.backends.sql(
      `select kind from auth.events where subject_id = $1 and actor = 'operator' order by at`,
      [clientId],
    );
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['client-registered', 'client-deleted'],
    );
  });

  it('the document of a client is read only when the operator listed its address [operator.clients.closed]', async () => {
    assert.equal(await codeOf(DOCUMENT), 'invalid_client');
    assert.equal((await add({ client_id: 'http://client.invalid/app.json' })).code, 'invalid_client_metadata');
    const listed = await add({ client_id: DOCUMENT });
    assert.deepEqual([listed.status, listed.body.client.client_id], [201, DOCUMENT]);
    assert.equal(await codeOf(DOCUMENT), 'unavailable', 'its host is asked now, and does not exist');
    assert.equal((await remove(DOCUMENT)).status, 200);
    assert.equal(await codeOf(DOCUMENT), 'invalid_client');
  });
});
