import assert from 'node:assert/strict';
import { errorOf, exchange, request } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const BROWSER = ['Accept: text/html,application/xhtml+xml,*/*;q=0.8'];

describe('GraphiQL', () => {
  let on: TestGateway;
  let off: TestGateway;
  before(async () => ([on, off] = await Promise.all([startTestGateway({ GRAPHIQL: 'on' }), startTestGateway()])));
  after(() => Promise.all([on.close(), off.close()]));

  it('is there only where the setting is on; else the path takes only POST [graphql.page]', async () => {
    const page = await exchange(on.api, request('GET /graphql', BROWSER));
    assert.deepEqual([page.status, page.headers['content-type']], [200, ['text/html; charset=utf-8']]);
    const none = await exchange(off.api, request('GET /graphql'));
    errorOf(none, 405, 'method_not_allowed');
    assert.deepEqual(none.headers['allow'], ['POST, OPTIONS']);
    errorOf(await exchange(off.api, request('GET /graphql/ui/any/start.js')), 404, 'not_found');
    errorOf(await exchange(on.api, request('GET /graphql/ui/any/page.ts')), 404, 'not_found');
  });

  it('answers programs 405 with POST, and not the page [graphql.page]', async () => {
    for (const accept of ['application/json', 'application/graphql-response+json', '*/*', null]) {
      const lines = accept === null ? [] : [`Accept: ${accept}`];
      const reply = await exchange(on.api, request('GET /graphql?query={__typename}', lines));
      assert.match(errorOf(reply, 405, 'method_not_allowed').message ?? '', /by POST/);
      assert.deepEqual([reply.headers['allow'], reply.headers['vary']], [['POST, OPTIONS'], ['Accept']]);
    }
  });

  it('and its files allow no inline code, no other origin and no frame [graphql.page]', async () => {
    const { body } = await exchange(on.api, request('GET /graphql', BROWSER));
    const files = [...body.matchAll(/\b(?:src|href)="(graphql\/ui\/[^"]*)"/g)].map((match) => `/${match[1]}`);
    assert.equal(files.length, 6);
    for (const path of ['/graphql', ...files]) {
      const { status, headers } = await exchange(on.api, request(`GET ${path}`, BROWSER));
      assert.equal(status, 200, path);
      assert.deepEqual(
        headers['content-security-policy'],
        [
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; font-src data:",
        ],
        path,
      );
      assert.deepEqual(headers['x-frame-options'], ['DENY'], path);
    }
    assert.doesNotMatch(body, /<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\bsrc=)/i);
  });
});
