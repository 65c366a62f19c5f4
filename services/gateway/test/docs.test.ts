import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { request as fetchRaw } from 'undici';
import { errorOf, request, exchange, type RawReply } from './raw.ts';
import { AUTH_URL, startTestGateway, type TestGateway } from './test-gateway.ts';

/** Links of the page, as written in it. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};
/** Of another release than the one that runs. */
const FILES = ['index.css', 'page.css', 'swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'].map(
  (name) => `/docs/another-release/${name}`,
);
const NAV = /<nav.*<\/nav>/s;

describe('the reference page', () => {
  let testGateway: TestGateway;
  let page: RawReply;
  before(async () => {
    testGateway = await startTestGateway();
    page = await exchange(testGateway.api, request('GET /docs'));
  });
  after(() => testGateway.close());

  it('is HTML without a credential, with the headers of every answer [meta.docs.page, versioning.response.always]', () => {
    assert.equal(page.status, 200);
    assert.deepEqual(page.headers['content-type'], ['text/html; charset=utf-8']);
    assert.deepEqual(page.headers['api-version'], ['1']);
    assert.equal(page.headers['x-request-id']?.length, 1);
  });

  it('and its files allow no inline code, no other origin, no frame and no referrer [meta.docs.closed]', async () => {
    for (const path of ['/docs', ...FILES]) {
      const { headers } = await exchange(testGateway.api, request(`GET ${path}`));
      const policy = new Map(
        headers['content-security-policy']?.[0]?.split('; ').map((directive) => {
          const [name = '', ...sources] = directive.split(' ');
          return [name, sources.join(' ')];
        }),
      );
      assert.deepEqual(
        Object.fromEntries(policy),
        {
          'default-src': "'none'",
          'script-src': "'self'",
          'style-src': "'self'",
          'img-src': 'data:',
          'connect-src': "'self'",
          'base-uri': "'none'",
          'form-action': "'none'",
          'frame-ancestors': "'none'",
        },
        path,
      );
      assert.deepEqual(headers['x-content-type-options'], ['nosniff'], path);
      assert.deepEqual(headers['referrer-policy'], ['no-referrer'], path);
      assert.deepEqual(headers['x-frame-options'], ['DENY'], path);
      assert.deepEqual(headers['cross-origin-opener-policy'], ['same-origin'], path);
      assert.deepEqual(headers['cross-origin-resource-policy'], ['same-origin'], path);
    }
  });

  it('has no inline script, style or handler, which its policy forbids', () => {
    const scripts = [...page.body.matchAll(/<script\b([^>]*)>([^<]*)<\/script>/g)];
    assert.equal(scripts.length, 2);
    for (const [, attributes, content] of scripts) {
      assert.match(attributes!, /\bsrc="/);
      assert.equal(content, '');
    }
    assert.doesNotMatch(page.body, /<style|\sstyle=|\son\w+=|javascript:/i);
  });

  it('links only to files of this origin, by relative paths [meta.docs.closed]', async () => {
    assert.deepEqual(linksOf(NAV.exec(page.body)![0]), ['console', `${AUTH_URL}/account`]);
    const links = linksOf(page.body.replace(NAV, '')).filter((link) => link !== 'data:,');
    assert.equal(links.length, 6);
    for (const link of links) {
      // A proxy may serve the gateway under a prefix and remove it.
      const { pathname, host } = new URL(link, 'https://tasks.test/some/prefix/docs');
      assert.equal(host, 'tasks.test', link);
      assert.ok(pathname.startsWith('/some/prefix/'), link);
      const reply = await exchange(testGateway.api, request(`GET ${pathname.replace('/some/prefix', '')}`));
      assert.equal(reply.status, 200, link);
      assert.deepEqual(reply.headers['content-type'], [TYPES[/\w+$/.exec(link)![0]]], link);
    }
  });

  it('loads only the description that is served', async () => {
    const start = await exchange(testGateway.api, request('GET /docs/another-release/start.js'));
    assert.match(start.body, /\burl: 'openapi\.json'/);
    assert.match(start.body, /\bvalidatorUrl: null/);
    assert.doesNotMatch(start.body + page.body.replace(NAV, ''), /https?:|\/\//);
    for (const css of FILES.filter((path) => path.endsWith('.css'))) {
      const { body } = await exchange(testGateway.api, request(`GET ${css}`));
      assert.doesNotMatch(body, /@import|url\((?!["']?data:)/, css);
    }
  });

  it('is 405 with Allow for other methods than GET and HEAD [errors.405.allow]', async () => {
    for (const path of ['/docs', '/docs/another-release/start.js']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'TRACE']) {
        const reply = await exchange(testGateway.api, request(`${method} ${path}`));
        errorOf(reply, 405, 'method_not_allowed');
        assert.deepEqual(reply.headers.allow, ['GET, HEAD, OPTIONS'], path);
      }
    }
  });

  it('has only the files of its list, for any path [meta.docs.files]', async () => {
    for (const name of [
      'swagger-ui.js',
      'swagger-ui-bundle.js.map',
      'package.json',
      'index.html',
      'Start.js',
      'start%2ejs',
      'constructor',
      '__proto__',
      '.',
      '..',
      'start.js/',
      '../package.json',
    ]) {
      errorOf(await exchange(testGateway.api, request(`GET /docs/another-release/${name}`)), 404, 'not_found');
    }
    for (const name of ['..%2fpackage.json', '%2e%2e', '..%5cpackage.json', 'start.js%00', '%2fetc%2fpasswd'])
      errorOf(await exchange(testGateway.api, request(`GET /docs/another-release/${name}`)), 400, 'malformed_request');
  });

  it('is only on the API origin', async () => {
    errorOf(await exchange(testGateway.auth, request('GET /docs')), 404, 'not_found');
  });
});

describe('a static answer', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway({ GRAPHIQL: 'on' })));
  after(() => testGateway.close());

  const PATHS = ['/docs', ...FILES, '/openapi.json'];

  it('is 304 for a client that has it [meta.docs.revalidated]', async () => {
    for (const path of PATHS) {
      const { headers } = await exchange(testGateway.api, request(`GET ${path}`));
      assert.deepEqual(headers['cache-control'], ['no-cache'], path);
      const tag = headers.etag![0]!;
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await exchange(testGateway.api, request(`GET ${path}`, [`If-None-Match: ${known}`]));
        assert.equal(again.status, 304, `${path} ${known}`);
        assert.deepEqual(again.headers.etag, [tag]);
        assert.deepEqual(again.headers['api-version'], ['1']);
        assert.equal(again.headers['content-length'], undefined);
      }
      const changed = await exchange(testGateway.api, request(`GET ${path}`, ['If-None-Match: "other"']));
      assert.equal(changed.status, 200, path);
    }
  });

  it('is kept for ever at an address with the hash of its content, and at no other one [meta.docs.revalidated]', async () => {
    for (const page of ['/docs', '/console', '/graphql']) {
      const { body } = await exchange(testGateway.api, request(`GET ${page}`, ['Accept: text/html']));
      const links = linksOf(body).filter((link) => /\.(?:js|css)$/.test(link));
      assert.ok(links.length > 3, page);
      for (const link of links) {
        const { status, headers } = await exchange(testGateway.api, request(`GET /${link}`));
        assert.equal(status, 200, link);
        assert.deepEqual(headers['cache-control'], ['public, max-age=31536000, immutable'], link);
      }
      const old = links[0]!.replace(/[0-9a-f]{16}/, '0123456789abcdef');
      const { headers } = await exchange(testGateway.api, request(`GET /${old}`));
      assert.deepEqual(headers['cache-control'], ['no-cache'], old);
    }
  });

  it('has the headers of GET for HEAD', async () => {
    for (const path of PATHS) {
      const [get, head] = await Promise.all(
        (['GET', 'HEAD'] as const).map(async (method) => {
          const { statusCode, headers, body } = await fetchRaw(`http://127.0.0.1:${testGateway.api}${path}`, {
            method,
          });
          const { length } = await body.text();
          const compared = { ...headers, date: '', connection: '', 'keep-alive': '', 'x-request-id': '' };
          return { statusCode, headers: compared, length };
        }),
      );
      assert.deepEqual(head!.headers, get!.headers, path);
      assert.equal(head!.statusCode, 200, path);
      assert.equal(head!.length, 0, path);
      assert.ok(get!.length > 0, path);
    }
  });

  it('is compressed for clients that accept it, with its own ETag', async () => {
    for (const path of [...FILES.filter((path) => path.includes('swagger-ui')), '/openapi.json']) {
      const get = async (encoding: string) => {
        const { headers, body } = await fetchRaw(`http://127.0.0.1:${testGateway.api}${path}`, {
          headers: { 'accept-encoding': encoding },
        });
        return { headers, bytes: Buffer.from(await body.arrayBuffer()) };
      };
      const plain = await get('identity');
      assert.equal(plain.headers['content-encoding'], undefined);
      for (const accepted of ['gzip', 'x-gzip', 'br, GZIP;q=0.5', '*']) {
        const packed = await get(accepted);
        assert.equal(packed.headers['content-encoding'], 'gzip', accepted);
        assert.equal(packed.headers.vary, 'Accept-Encoding');
        assert.notEqual(packed.headers.etag, plain.headers.etag);
        assert.ok(packed.bytes.length < plain.bytes.length / 2);
        assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
      }
      for (const refused of ['br', 'gzip;q=0', 'gzip;q=0.0, *', '*;q=0'])
        assert.deepEqual((await get(refused)).bytes, plain.bytes, refused);
    }
  });
});

describe('an unknown path of {auth_url}', () => {
  it('is a page for a browser, and the error for a program [errors.404.unknown-route]', async () => {
    await using stack = new AsyncDisposableStack();
    const testGateway = await startTestGateway();
    stack.defer(() => testGateway.close());
    const accept = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await exchange(testGateway.auth, request('GET /nothing-here', [accept]));
    assert.deepEqual([page.status, page.headers['content-type']], [404, ['text/html; charset=utf-8']]);
    assert.match(page.body, /<h1>Not found<\/h1>/);
    assert.deepEqual(linksOf(page.body), ['data:,', `${AUTH_URL}/style.css`, `${AUTH_URL}/`]);
    assert.match(page.headers['content-security-policy']![0]!, /^default-src 'none'; /);
    const { message = '' } = errorOf(await exchange(testGateway.auth, request('GET /nothing-here')), 404, 'not_found');
    assert.match(message, / See https?:\/\/[^/]+\/docs or https?:\/\/[^/]+\/openapi\.json\.$/);
    assert.ok(!message.includes(AUTH_URL), 'there are no documents at this origin');
    errorOf(await exchange(testGateway.auth, request('POST /nothing-here', [accept])), 404, 'not_found');
    errorOf(await exchange(testGateway.api, request('GET /nothing-here', [accept])), 404, 'not_found');
  });
});
