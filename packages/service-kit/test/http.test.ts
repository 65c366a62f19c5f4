import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { API_VERSION } from '@wts/contracts';
import request from 'supertest';
import type { Test } from 'supertest';
import { ann, NAME, reader, URL_BYTES, worker } from './demo.ts';
import { as, startDemo, type Running } from './running-demo.ts';
import { isRefusal, messageOf } from './refusal.ts';
import { SERVICE_LIMITS } from '../src/limits.ts';

describe('a service over HTTP', () => {
  let demo: Running;
  before(async () => (demo = await startDemo()));
  after(() => demo.service.close());
  const get = (path: string): Test => request(demo.service.url).get(path);
  const post = (body: object | string, path = '/things/a'): Test =>
    request(demo.service.url).post(path).set(as(ann)).set('content-type', 'application/json').send(body);

  describe('replies', () => {
    it('with what the handler returned, the version and the id of the request', async () => {
      const answer = await post({ title: 'x' }, '/things/abc?limit=5&count=7')
        .set('x-request-id', 'Mine.1')
        .expect(201);
      assert.deepEqual(answer.body, {
        ok: true,
        got: { params: { name: 'abc' }, query: { limit: '5', count: 7 }, body: { title: 'x' }, userId: 'ann' },
      });
      assert.equal(answer.headers['x-request-id'], 'Mine.1');
      assert.equal(answer.headers['api-version'], API_VERSION);
      assert.equal(answer.headers['x-powered-by'], undefined);
      assert.equal(answer.headers.etag, undefined);
      assert.equal(answer.headers['cache-control'], 'no-store');
    });

    it('with a new request id when the caller sent none, or an invalid one', async () => {
      for (const id of [undefined, '', 'a b', 'x'.repeat(129), '{"a":1}']) {
        const answer = await (id === undefined ? get('/open') : get('/open').set('x-request-id', id));
        assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
      }
    });

    it('to HEAD with the headers of GET and no body', async () => {
      const answer = await request(demo.service.url).head('/open').expect(200);
      assert.equal(answer.headers['content-length'], '11');
      assert.equal(answer.text, undefined);
    });

    it('to GET with a body as if there were none', () =>
      get('/open').set('content-type', 'text/plain').send('{').expect(200));

    it('to probes of health and readiness without a credential', async () => {
      assert.deepEqual((await get('/health').expect(200)).body, { ok: true, status: 'up' });
      assert.deepEqual((await get('/ready').expect(200)).body, { ok: true, status: 'ready' });
      await get('/health').set('authorization', 'nonsense').expect(200);
    });
  });

  describe('finds a route only by its exact path', () => {
    for (const path of ['/', '/nope', '/OPEN', '/open/', '//open', '/open/x', '/things', '/things/a/b', '/internal'])
      it(`${path} is 404`, async () => void isRefusal(await get(path), 404, 'not_found'));

    it('another method is 405 and lists the methods of the path [errors.shape.fields]', async () => {
      const cases = [
        ['post', '/open', 'GET, HEAD'],
        ['delete', '/things/a', 'GET, HEAD, POST'],
        ['trace', '/open', 'GET, HEAD'],
        ['put', '/health', 'GET, HEAD'],
      ] as const;
      for (const [method, path, allow] of cases) {
        const answer = isRefusal(await request(demo.service.url)[method](path), 405, 'method_not_allowed');
        assert.equal(answer.headers.allow, allow);
      }
    });

    it('OPTIONS lists the methods and nothing else', async () => {
      const answer = await request(demo.service.url).options('/things/a').expect(204);
      assert.equal(answer.headers.allow, 'GET, HEAD, POST');
      isRefusal(await request(demo.service.url).options('/nope'), 404, 'not_found');
    });

    it('a method in a header or parameter is ignored', async () => {
      isRefusal(
        await request(demo.service.url).post('/open').set('x-http-method-override', 'GET'),
        405,
        'method_not_allowed',
      );
      await get('/open?_method=DELETE').expect(200);
    });
  });

  describe('refuses a URL that could be read in two ways [errors.400.bad-text]', () => {
    const cases = [
      '/things/a%2Fb',
      '/things/a%5cb',
      '/things/a%00b',
      '/things/%2e%2e',
      '/things/%2e%2e%2fopen',
      '/things/%0a',
      '/%ff',
      '/open?x=%ff',
      '/things/%',
    ];
    for (const path of cases)
      it(path, async () => void isRefusal(await get(path).set(as(ann)), 400, 'malformed_request'));

    it('one that is too long', async () => {
      isRefusal(await get(`/open?x=${'a'.repeat(URL_BYTES)}`), 431, 'headers_too_large');
    });

    it('a path parameter that does not match its pattern', async () => {
      const answer = isRefusal(await get('/things/A_b').set(as(ann)), 400, 'validation_failed');
      assert.match(messageOf(answer), /^path\/name must match pattern/);
    });
  });

  describe('checks the caller, then the scope, before the request', () => {
    it('without an internal token nothing is read [authentication.internal.token]', async () => {
      isRefusal(await request(demo.service.url).post('/things/A_b').send('{'), 401, 'authorization_required');
    });
    it('with a wrong internal token nothing is read', async () => {
      isRefusal(
        await request(demo.service.url).post('/things/a').set('x-wts-principal', 'x').send('{'),
        401,
        'token_invalid',
      );
    });
    it('a missing scope is reported before a wrong path or body', async () => {
      const answer = await request(demo.service.url).post('/things/A_b').set(as(reader)).send('{');
      isRefusal(answer, 403, 'insufficient_scope');
    });
    it('an internal operation needs an internal token and no scope', async () => {
      isRefusal(await get('/internal/who'), 401, 'authorization_required');
      assert.deepEqual(
        (
          await get('/internal/who')
            .set(as({ ...worker, scopes: [] }, 'workspace'))
            .expect(200)
        ).body,
        { ok: true, userId: worker.userId },
      );
    });
    it('an internal operation is refused to a service that it does not list, and on behalf of a person [authentication.internal.callers]', async () => {
      for (const headers of [as(worker), as(worker, 'sync'), as(worker, 'graph'), as(ann, 'workspace'), as(ann)])
        isRefusal(await get('/internal/who').set(headers), 401, 'token_invalid');
    });
    it('an operation for people is refused to services other than the gateway [authentication.internal.callers]', async () => {
      for (const from of ['workspace', 'sync', 'graph', 'agent'] as const)
        isRefusal(await get('/things/a').set(as(ann, from)), 401, 'token_invalid');
    });
    it('a token for another service is refused, also one that a service passes on [authentication.internal.audience]', async () => {
      for (const to of ['auth', 'workspace', '']) {
        isRefusal(await get('/things/a').set(as(ann, 'gateway', to)), 401, 'token_invalid');
        isRefusal(await get('/internal/who').set(as(worker, 'workspace', to)), 401, 'token_invalid');
      }
    });
  });

  describe('refuses a query [errors.400.bad-text]', () => {
    const cases: Readonly<Record<string, [string, RegExp]>> = {
      'with a parameter twice': ['limit=25&limit=5', /^query\/limit must be given once/],
      'with brackets': ['limit[]=5', /must not have the property "limit\[\]"/],
      'that does not fit': ['limit=1e3', /^query\/limit must match pattern/],
      'with a number above its bound': ['count=101', /^query\/count must be at most 100/],
      'with a number below its bound': ['count=0', /^query\/count must be at least 1/],
      'with a number that is not whole': ['count=1.5', /^query\/count must be a whole number/],
      'with an empty number': ['count=', /^query\/count must be a whole number/],
      'with a NUL': ['limit=%00', /NUL/],
      'with a name of an object': ['__proto__=1', /must not have the property "__proto__"/],
      'with an unknown parameter': ['x=1', /must not have the property "x"/],
    };
    for (const [what, [query, sentence]] of Object.entries(cases)) {
      it(what, async () => {
        const answer = isRefusal(await post({ title: 'x' }, `/things/a?${query}`), 400, 'validation_failed');
        assert.match(messageOf(answer), sentence);
      });
    }
    it('with a parameter twice also where the operation has no parameters', async () => {
      isRefusal(await get('/open?x=1&x=2'), 400, 'validation_failed');
      await get('/open?x=1&y=2').expect(200);
    });
    it('with two hundred parameters, and silently drops none', async () => {
      const many = Array.from({ length: 1500 }, (_, at) => `a${at}`).join('&');
      isRefusal(await post({ title: 'x' }, `/things/a?limit=1&${many}&limit=2`), 400, 'validation_failed');
    });
  });

  describe('refuses a version that it does not support', () => {
    for (const version of ['0', '2', '1.0', '01', '1, 1', '2026-01-01', ' ']) {
      it(JSON.stringify(version), async () => {
        const answer = isRefusal(await get('/open').set('api-version', version), 400, 'unsupported_api_version');
        assert.match(messageOf(answer), /Api-Version must be one of: 1/);
      });
    }
    it('and serves the version that it supports', async () =>
      void (await get('/open').set('api-version', '1').expect(200)));
  });

  describe('on a failure', () => {
    it('replies 503 with Retry-After and no cause when a dependency is down [errors.5xx.no-cause, errors.503.retry-after]', async () => {
      const answer = isRefusal(await get('/fail?how=fault'), 503, 'unavailable');
      assert.equal(answer.headers['retry-after'], '7');
      assert.equal((answer.body as { retryAfterSeconds: number }).retryAfterSeconds, 7);
      assert.ok(!answer.text.includes('secret-host'));
    });
    it('delays a refusal because of too many requests, so that immediate retries are slow [never.one-takes-all]', async () => {
      const since = performance.now();
      const refusals = Array.from({ length: 20 }, () => get('/things/too-much').set(as(ann)));
      for (const answer of await Promise.all(refusals)) isRefusal(answer, 503, 'unavailable');
      // Each of them for itself; timers may be a millisecond early.
      assert.ok(performance.now() - since >= SERVICE_LIMITS.refusalPauseMs - 5);
    });
    it('shows nothing of a bug, and logs all of it as an error [errors.5xx.no-cause]', async () => {
      const answer = isRefusal(await get('/fail').set('x-request-id', 'bug-1'), 500, 'internal');
      assert.ok(!/secret-host|select|people|stack|at /.test(answer.text), answer.text);
      const line = demo.lines().find(({ requestId }) => requestId === 'bug-1');
      assert.equal(line?.level, 'error');
      assert.match(JSON.stringify(line.err), /secret-host.*demo\.ts/);
    });
    it('handles a thrown value that is no Error', async () =>
      void isRefusal(await get('/fail?how=text'), 500, 'internal'));
    it('turns an error of the database into its fault [errors.409.conflict]', async () => {
      assert.ok(!isRefusal(await get('/fail?how=unique'), 409, 'conflict').text.includes('ann'));
    });
    it('closes the connection of an incomplete reply, so that the client can detect it', () =>
      assert.rejects(async () => get('/stream'), /aborted|socket hang up|ECONNRESET/));
  });

  it('checks its replies against its contracts when CHECK_REPLIES is on', async () => {
    await get('/lie').expect(200);
    const strict = await startDemo({ CHECK_REPLIES: 'on' });
    try {
      isRefusal(await request(strict.service.url).get('/lie'), 500, 'internal');
      assert.match(JSON.stringify(strict.lines()), /lie replied what its contract does not allow.*reply must not have/);
      strict.levers.echoes = -1;
      await request(strict.service.url).get('/lie').expect(200);
      await request(strict.service.url).get('/health').expect(200);
    } finally {
      await strict.service.close();
    }
  });

  describe('writes one line per request', () => {
    it('with method, operation, status, duration, id and user', async () => {
      await post({ title: 'x' }).set('x-request-id', 'line-1');
      const lines = demo.lines().filter(({ requestId }) => requestId === 'line-1');
      assert.equal(lines.length, 1);
      const { time, durationMs, ...line } = lines[0]!;
      assert.ok(typeof durationMs === 'number' && typeof time === 'string');
      assert.deepEqual(line, {
        level: 'info',
        service: NAME,
        method: 'POST',
        route: 'echo',
        status: 201,
        requestId: 'line-1',
        userId: 'ann',
        msg: 'request',
      });
    });
    it('at info for mistakes of callers, at warn for a dependency that is down, at debug for probes', async () => {
      await post('{').set('x-request-id', 'line-2');
      await get('/fail?how=fault').set('x-request-id', 'line-3');
      await get('/health').set('x-request-id', 'line-4');
      const level = (id: string): unknown => demo.lines().find(({ requestId }) => requestId === id)?.level;
      assert.deepEqual(['line-2', 'line-3', 'line-4'].map(level), ['info', 'warn', 'debug']);
    });
    it('that never holds a credential or a query', async () => {
      const token = as(ann)['x-wts-principal']!;
      await get(`/nowhere?token=hunter2`)
        .set('authorization', 'Bearer hunter2')
        .set('cookie', 'a=hunter2')
        .set(as(ann));
      await get('/things/hunter').set('x-wts-principal', `${token}x`);
      const [id, code] = [randomUUID(), randomBytes(24).toString('base64url')];
      await get(`/nowhere/${id}/${code}`);
      const text = JSON.stringify(demo.lines());
      for (const secret of ['hunter2', token, code]) assert.ok(!text.includes(secret));
      assert.ok(text.includes(`/nowhere/${id}/[redacted]`), 'ids may stand there');
    });
  });
});
