import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateServiceKey, parsePrivateKey, tokenMinter } from '@wts/access';
import { Fault, LIMITS, type ErrorCode } from '@wts/contracts';
import { eventually, minterFor } from '@wts/testkit';
import { createServiceClient, type ServiceClient } from '../src/call/index.ts';
import { createLogger } from '../src/observe/index.ts';
import { ann, demo as api, NAME, reader } from './demo.ts';
import { startDemo, type Running } from './running-demo.ts';
import { SERVICE_LIMITS } from '../src/limits.ts';

const written: string[] = [];
const log = createLogger({
  name: 'caller',
  level: 'debug',
  destination: { write: (line: string) => void written.push(line) },
});

const refuses = (call: Promise<unknown>, code: ErrorCode): Promise<void> =>
  assert.rejects(call, (fault) => {
    assert.ok(fault instanceof Fault, String(fault));
    assert.equal(fault.code, code);
    return true;
  });

interface Server {
  readonly url: string;
  readonly asked: () => number;
  readonly connections: () => Promise<number>;
}

describe('a call to another service', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  let demo: Running;
  before(async () => (demo = await startDemo()));
  after(() => demo.service.close());
  afterEach(async () => {
    written.length = 0;
    for (const close of cleanUp.splice(0).toReversed()) await close();
  });

  function caller(...urls: string[]): ServiceClient {
    const made = createServiceClient({ name: NAME, urls, mintToken: minterFor('gateway', NAME), self: 'gateway', log });
    cleanUp.push(() => made.close());
    return made;
  }

  /** A server with given replies, for replies that a service does not make. */
  async function server(listener: RequestListener): Promise<Server> {
    let asked = 0;
    const made = createServer((req, res) => {
      asked += 1;
      listener(req, res);
    });
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => {
      made.closeAllConnections();
      return new Promise((resolve) => made.close(resolve));
    });
    return {
      url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`,
      asked: () => asked,
      connections: promisify(made.getConnections.bind(made)),
    };
  }

  /** An address without a server. */
  async function absent(): Promise<string> {
    const made = createServer();
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    const { port } = made.address() as AddressInfo;
    await new Promise((resolve) => made.close(resolve));
    return `http://127.0.0.1:${port}`;
  }

  const cut: RequestListener = (req) => req.socket.resetAndDestroy();
  const hang: RequestListener = () => {};
  const good: RequestListener = (_req, res) => res.end('{"ok":true}');

  it('that a handler causes has the id of its request and ends with it, without being given them', async () => {
    const other = await startDemo();
    cleanUp.push(() => other.service.close());
    const client = caller(other.service.url);
    // It ends neither by its own deadline nor by that of the handler.
    const timeoutMs = 2 * LIMITS.requestTimeoutMs;
    demo.levers.relay = async () => void (await client.call(api.hold, { principal: ann, timeoutMs }));
    const leaving = new AbortController();
    const requestId = 'request-of-ann';
    const relayed = caller(demo.service.url).call(api.relay, { principal: ann, requestId, signal: leaving.signal });
    const held = await eventually(() => other.levers.held[0]);
    leaving.abort();
    await assert.rejects(relayed);
    await eventually(() => held.signal.aborted);
    assert.equal((held.signal.reason as Error).name, 'AbortError');
    held.answer();
    await eventually(() => other.lines().find((line) => line['requestId'] === requestId));
  });

  it('carries the caller, the parameters, the query, the body and the id of the request', async () => {
    const reply = await caller(demo.service.url).call(api.echo, {
      principal: ann,
      params: { name: 'a-b' },
      query: { limit: '5' },
      body: { title: 'é & more' },
      requestId: 'call-1',
    });
    assert.deepEqual(reply, {
      ok: true,
      got: { params: { name: 'a-b' }, query: { limit: '5' }, body: { title: 'é & more' }, userId: 'ann' },
    });
    assert.ok(demo.lines().some(({ requestId, userId }) => requestId === 'call-1' && userId === 'ann'));
  });

  it('cannot leave the path of its contract through a parameter', async () => {
    await refuses(
      caller(demo.service.url).call(api.read, { principal: ann, params: { name: '../open' } }),
      'malformed_request',
    );
    await refuses(
      caller(demo.service.url).call(api.read, { principal: ann, params: { name: 'a?b' } }),
      'validation_failed',
    );
  });

  it('throws the fault of the other service with its code, its message and its Retry-After', async () => {
    const { call } = caller(demo.service.url);
    await refuses(
      call(api.echo, { principal: reader, params: { name: 'a' }, body: { title: 'x' } }),
      'insufficient_scope',
    );
    await assert.rejects(call(api.echo, { principal: ann, params: { name: 'a' }, body: { title: '' } }), (fault) => {
      assert.ok(fault instanceof Fault);
      assert.equal(fault.code, 'validation_failed');
      assert.match(fault.publicMessage ?? '', /^body\/title must not be empty/);
      return true;
    });
    await assert.rejects(call(api.fail, { principal: ann, query: { how: 'fault' } }), {
      code: 'unavailable',
      retryAfterSeconds: 7,
    });
    await refuses(call(api.fail, { principal: ann }), 'internal');
  });

  it('is unavailable when the internal token is refused', async () => {
    const other = createServiceClient({
      name: NAME,
      urls: [demo.service.url],
      mintToken: tokenMinter({ from: 'gateway', to: NAME, key: parsePrivateKey(generateServiceKey().privateKey) }),
      self: 'gateway',
      log,
    });
    await refuses(other.call(api.read, { principal: ann, params: { name: 'a' } }), 'unavailable');
    await other.close();
    assert.match(written.join(''), /"level":"error".*INTERNAL_TOKEN_PUBLIC_KEYS lacks/);
  });

  it('to a service that is down is unavailable, and soon', async () => {
    const started = performance.now();
    await refuses(caller(await absent()).call(api.open, { principal: ann }), 'unavailable');
    assert.ok(performance.now() - started < SERVICE_LIMITS.internalCallTimeoutMs / 2);
  });

  it('is unavailable when the reply is not JSON, or an error of another shape', async () => {
    const html = await server((_req, res) => res.end('<html>'));
    const strange = await server((_req, res) => res.writeHead(502).end('{"code":"constructor"}'));
    await refuses(caller(html.url).call(api.open, { principal: ann }), 'unavailable');
    await refuses(caller(strange.url).call(api.open, { principal: ann }), 'unavailable');
  });

  it('ends at its deadline when the other service hangs or sends slowly [never.unbounded]', async () => {
    const hanging = await server(hang);
    const dripping = await server((_req, res) => {
      const timer = setInterval(() => res.write(' '), 10);
      res.on('close', () => clearInterval(timer));
    });
    for (const { url } of [hanging, dripping]) {
      const call = caller(url).call(api.open, { principal: ann, timeoutMs: 200 });
      await refuses(Promise.race([call, sleep(1_500)]), 'unavailable');
    }
  });

  it('ends when its signal aborts, also before it began', async () => {
    const hanging = await server(hang);
    const gone = new AbortController();
    const call = caller(hanging.url).call(api.open, { principal: ann, signal: gone.signal });
    gone.abort();
    await refuses(call, 'unavailable');
    await refuses(caller(hanging.url).call(api.open, { principal: ann, signal: AbortSignal.abort() }), 'unavailable');
  });

  it('is distributed over all addresses', async () => {
    const [one, two] = [await server(good), await server(good)];
    const { call } = caller(one.url, two.url);
    for (let count = 0; count < 10; count += 1) await call(api.open, { principal: ann });
    assert.deepEqual([one.asked(), two.asked()], [5, 5]);
  });

  it('uses another address when one is down, for every method, and does not try that one each time', async () => {
    const well = await server((_req, res) => res.writeHead(201).end('{"ok":true,"got":1}'));
    const { call } = caller(await absent(), well.url);
    for (let count = 0; count < 20; count += 1)
      await call(api.echo, { principal: ann, params: { name: 'a' }, body: { title: 'x' } });
    assert.equal(well.asked(), 20);
    const failures = written.filter((line) => line.includes('call failed')).length;
    assert.ok(failures >= 1 && failures <= 5, `${failures} calls met the dead address`);
  });

  it('is repeated after the connection broke only when it is idempotent', async () => {
    const [bad, well] = [await server(cut), await server((_req, res) => res.end('{"ok":true,"got":1}'))];
    const post = { principal: ann, params: { name: 'a' }, body: { title: 'x' } };
    for (let count = 0; count < 4; count += 1) await caller(bad.url, well.url).call(api.open, { principal: ann });
    await caller(bad.url, bad.url, well.url).call(api.echo, { ...post, idempotent: true });
    const before = well.asked();
    await refuses(caller(bad.url).call(api.echo, post), 'unavailable');
    const { call } = caller(bad.url, well.url);
    const outcomes = await Promise.allSettled([call(api.echo, post), call(api.echo, post)]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal(well.asked(), before + 1);
  });

  it('that is idempotent does not wait for a replica that hangs', async () => {
    const [hanging, well] = [await server(hang), await server(good)];
    const { call } = caller(hanging.url, well.url);
    // A call that waited for it until its deadline would fail.
    await Promise.all([1, 2].map(() => call(api.open, { principal: ann, timeoutMs: 4_000 })));
    assert.ok(well.asked() >= 2);
  });

  it('finds a service that was restarted', async () => {
    const other = await startDemo();
    const { call } = caller(other.service.url);
    await call(api.open, { principal: ann });
    await other.service.close();
    await refuses(call(api.open, { principal: ann }), 'unavailable');
    const again = createServer(good);
    await new Promise<void>((resolve) => again.listen(other.service.port, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise((resolve) => again.close(resolve).closeAllConnections()));
    await call(api.open, { principal: ann });
  });

  it('has a bounded number of retries when everything is down [never.unbounded]', async () => {
    const [one, two, three] = [await server(cut), await server(cut), await server(cut)];
    const { call } = caller(one.url, two.url, three.url);
    const calls = 300;
    await Promise.allSettled(Array.from({ length: calls }, () => call(api.open, { principal: ann })));
    const asked = one.asked() + two.asked() + three.asked();
    assert.ok(asked <= calls * 1.1 + 20, `${asked} requests for ${calls} calls`);
  });

  it('is refused immediately when too many are under way, and works again when they have ended [never.unbounded]', async () => {
    const held: (() => void)[] = [];
    const holding = await server((_req, res) => void held.push(() => res.end('{"ok":true}')));
    const { call } = caller(holding.url);
    const many = Array.from({ length: 1_024 }, () => call(api.open, { principal: ann }));
    await refuses(call(api.open, { principal: ann }), 'unavailable');
    const release = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 5);
    await Promise.all(many);
    await call(api.open, { principal: ann });
    clearInterval(release);
  });

  it('leaves no connection open when the client is closed', async () => {
    const well = await server(good);
    const made = caller(well.url);
    await made.call(api.open, { principal: ann });
    assert.equal(await well.connections(), 1);
    await made.close();
    await eventually(async () => (await well.connections()) === 0);
    await refuses(made.call(api.open, { principal: ann }), 'unavailable');
  });
});
