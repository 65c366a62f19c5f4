import assert from 'node:assert/strict';
import { readConsole } from '../src/console/page.ts';
import { errorOf, exchange, request } from './raw.ts';
import { AUTH_URL, startTestGateway, type TestGateway } from './test-gateway.ts';

const { files, version } = readConsole('');
const FILES = [...files.keys()].map((name) => `/console/${version}/${name}`);

describe('the webhooks console', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());

  const get = (path: string, lines: string[] = []) => exchange(testGateway.api, request(`GET ${path}`, lines));

  it('is HTML without a credential, with the headers of every answer [console.page]', async () => {
    const { status, headers } = await get('/console');
    assert.equal(status, 200);
    assert.deepEqual(headers['content-type'], ['text/html; charset=utf-8']);
    assert.deepEqual(headers['api-version'], ['1']);
  });

  it('and its files allow no inline code, no other origin, no frame, no referrer and no parsing of texts [console.page.closed]', async () => {
    for (const path of ['/console', ...FILES]) {
      const { headers } = await get(path);
      assert.deepEqual(
        headers['content-security-policy'],
        [
          [
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'",
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "require-trusted-types-for 'script'; trusted-types 'none'",
          ].join('; '),
        ],
        path,
      );
      assert.deepEqual(headers['x-content-type-options'], ['nosniff'], path);
      assert.deepEqual(headers['referrer-policy'], ['no-referrer'], path);
      assert.deepEqual(headers['x-frame-options'], ['DENY'], path);
      assert.deepEqual(headers['cross-origin-opener-policy'], ['same-origin'], path);
    }
  });

  it('links to all its files, by relative paths, to the reference and to the account, and to nothing else', async () => {
    const { body } = await get('/console');
    const links = [...body.matchAll(/\b(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
    const files = links.filter((link) => link.startsWith('console/')).map((link) => `/${link}`);
    assert.deepEqual(files.toSorted(), FILES.toSorted());
    const others = links.filter((link) => !link.startsWith('console/'));
    assert.deepEqual(others, ['data:,', '#content', 'docs', `${AUTH_URL}/account`]);
    assert.doesNotMatch(body, /<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\bsrc=)/i);
  });

  it('has only the files of its list, for any path [console.page.files]', async () => {
    for (const name of [
      'index.html',
      'tsconfig.json',
      'page.ts',
      'Main.js',
      '..',
      'main.js/',
      '__proto__',
      '../page.ts',
    ]) {
      errorOf(await get(`/console/${version}/${name}`), 404, 'not_found');
    }
    errorOf(await get(`/console/${version}/..%2fpage.ts`), 400, 'malformed_request');
    errorOf(await exchange(testGateway.auth, request('GET /console')), 404, 'not_found');
  });

  it('is sent again only when it changed, and found with a slash behind it', async () => {
    for (const path of ['/console', ...FILES]) {
      const tag = (await get(path)).headers.etag![0]!;
      assert.equal((await get(path, [`If-None-Match: ${tag}`])).status, 304, path);
    }
    const { status, headers } = await get('/console/');
    assert.deepEqual([status, headers.location], [308, ['../console']]);
  });
});
