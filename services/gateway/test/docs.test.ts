import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { request as fetchRaw } from 'undici';
import { errorOf, request, exchange } from './raw.ts';
import type { RawReply } from './raw.ts';
import { startTestGateway } from './test-gateway.ts';
import type { TestGateway } from './test-gateway.ts';

/** Links of the page, as written in it. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};
const FILES = [
  '/docs/index.css',
  '/docs/page.css',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/start.js',
];

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
    const links = linksOf(page.body).filter((link) => link !== 'data:,');
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
    const start = await exchange(testGateway.api, request('GET /docs/start.js'));
    assert.match(start.body, /\burl: 'openapi\.json'/);
    assert.match(start.body, /\bvalidatorUrl: null/);
    assert.doesNotMatch(start.body + page.body, /https?:|\/\//);
    for (const css of ['/docs/index.css', '/docs/page.css', '/docs/swagger-ui.css']) {
      const { body } = await exchange(testGateway.api, request(`GET ${css}`));
      assert.doesNotMatch(body, /@import|url\((?!["']?data:)/, css);
    }
  });

  it('is 405 with Allow for other methods than GET and HEAD [errors.405.allow]', async () => {
    for (const path of ['/docs', '/docs/start.js']) {
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
      errorOf(await exchange(testGateway.api, request(`GET /docs/${name}`)), 404, 'not_found');
    }
    for (const name of ['..%2fpackage.json', '%2e%2e', '..%5cpackage.json', 'start.js%00', '%2fetc%2fpasswd']) {
      errorOf(await exchange(testGateway.api, request(`GET /docs/${name}`)), 400, 'malformed_request');
    }
  });

  it('is only on the API origin', async () => {
    errorOf(await exchange(testGateway.auth, request('GET /docs')), 404, 'not_found');
  });
});

describe('a static answer', () => {
  let testGateway: TestGateway;
  before(async () => {
    testGateway = await startTestGateway();
  });
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
    for (const path of ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/openapi.json']) {
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
      for (const refused of ['br', 'gzip;q=0', 'gzip;q=0.0, *', '*;q=0']) {
        assert.deepEqual((await get(refused)).bytes, plain.bytes, refused);
      }
    }
  });
});
