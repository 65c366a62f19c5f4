import assert from 'node:assert/strict';
import { memberApi, type Contract } from '@wts/contracts';
import { openNats } from '@wts/service-kit/nats';
import { createLogger } from '@wts/service-kit/observe';
import { eventually, testNats } from '@wts/testkit';
import { RateLimiter } from '../src/edge/limit-rate.ts';
import { compileRoutes } from '../src/edge/route-table.ts';
import { shareRates } from '../src/rates/share.ts';
import { Tally } from '../src/rates/tally.ts';
import { openBareEdge, type BareEdge } from './bare-edge.ts';
import { RawClient, errorOf, request, exchange, type RawReply } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

type NatsServer = Awaited<ReturnType<typeof testNats>>;

const PROXIED = { TRUSTED_PROXIES: '127.0.0.1' };

const call = (
  testGateway: TestGateway,
  line: string,
  token: string,
  headers: readonly string[] = [],
): Promise<RawReply> => exchange(testGateway.api, request(line, [`Authorization: Bearer ${token}`, ...headers]));

const contract: Contract = {
  id: 'graphql',
  method: 'POST',
  path: '/graphql',
  summary: '',
  tag: 'GraphQL',
  scope: 'read',
  reply: { status: 200, schema: {} },
  errors: [],
};
const GRAPHQL = compileRoutes([{ contract, to: 'workspace' }]);
const log = createLogger({ name: 'test', level: 'silent' });

async function statuses(count: number, send: (index: number) => Promise<RawReply>): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1) all.push((await send(index)).status);
  return all;
}

describe('a rate limit', () => {
  describe('at one gateway, without NATS', () => {
    let testGateway: TestGateway;
    before(async () => {
      const limits = { rest: 3, 'codes-address': 4, credentials: 3 };
      testGateway = await startTestGateway({ ...PROXIED, RATE_LIMITS: JSON.stringify(limits) });
    });
    beforeEach(() => testGateway.sync.reset());
    beforeEach(() => testGateway.workspace.reset());
    after(() => testGateway.close());

    it('answers 429 with Retry-After, and every answer has the remaining count [errors.429.retry-after, limits.rate.headers, limits.rate.rest]', async () => {
      const { token } = testGateway.newKey(['read']);
      const first = await call(testGateway, 'GET /api/workspaces', token);
      assert.equal(first.status, 200);
      assert.deepEqual(first.headers['ratelimit-policy'], ['"rest";q=3;w=60']);
      assert.deepEqual(first.headers['ratelimit'], ['"rest";r=2;t=60']);
      assert.deepEqual(first.headers['x-ratelimit-limit'], ['3']);
      assert.deepEqual(first.headers['x-ratelimit-remaining'], ['2']);
      assert.equal((await statuses(2, () => call(testGateway, 'GET /api/workspaces', token))).at(-1), 200);

      const reached = testGateway.workspace.started;
      const refused = await call(testGateway, 'GET /api/workspaces', token);
      const body = errorOf(refused, 429, 'rate_limited') as unknown as { retryAfterSeconds: number };
      const [wait] = refused.headers['retry-after'] ?? [];
      assert.ok(Number(wait) > 55 && Number(wait) <= 60);
      assert.equal(body.retryAfterSeconds, Number(wait));
      assert.deepEqual(refused.headers['ratelimit'], [`"rest";r=0;t=${wait}`]);
      assert.equal(testGateway.workspace.started, reached, 'nothing reached the service');
      const { token: other } = testGateway.newKey(['read']);
      assert.equal(
        (await call(testGateway, 'GET /api/workspaces', other)).status,
        200,
        'another caller is not limited',
      );
      assert.equal((await call(testGateway, 'GET /sync/deltas', token)).status, 200, 'sync has its own limits');
    });

    it('of invitation codes counts only wrong ones, per address [limits.rate.codes]', async () => {
      const { path } = memberApi.joinWorkspace;
      const guess = (token: string, from: string): Promise<RawReply> =>
        call(testGateway, `POST ${path}`, token, [`X-Forwarded-For: ${from}`]);
      const ada = testGateway.newKey(['admin']).token;
      assert.deepEqual(await statuses(3, () => guess(ada, '203.0.113.1')), [200, 200, 200]);
      // These requests tried no code, so they do not count for other callers of the address.
      const reader = testGateway.newKey(['read']).token;
      assert.deepEqual(await statuses(5, () => guess(reader, '203.0.113.2')), [403, 403, 403, 403, 403]);
      testGateway.workspace.answer = (_req, res) => void res.writeHead(404).end('{}');
      const [eve, mia, tom] = [1, 2, 3].map(() => testGateway.newKey(['admin']).token) as [string, string, string];
      assert.deepEqual(await statuses(2, () => guess(eve, '203.0.113.2')), [404, 404]);
      assert.deepEqual(await statuses(2, () => guess(mia, '203.0.113.2')), [404, 404]);
      assert.equal((await guess(tom, '203.0.113.2')).status, 429, 'the address has used its guesses');
      assert.equal((await guess(tom, '203.0.113.3')).status, 404, 'other addresses have not');
    });

    it('counts parallel requests before they are answered, and takes back those that did not fail [limits.rate.at-once]', async () => {
      const { path } = memberApi.joinWorkspace;
      const { promise, resolve } = Promise.withResolvers<void>();
      const newToken = (): string => testGateway.newKey(['admin']).token;
      const join = (): Promise<RawReply> =>
        call(testGateway, `POST ${path}`, newToken(), ['X-Forwarded-For: 203.0.113.40']);
      testGateway.workspace.answer = (_req, res) => void promise.then(() => res.writeHead(404).end('{}'));
      const all = Array.from({ length: 40 }, join);
      await eventually(() => testGateway.workspace.started === 4);
      resolve();
      const accepted = (await Promise.all(all)).filter(({ status }) => status === 404);
      assert.equal(accepted.length, 4);
      assert.equal(testGateway.workspace.started, 4, 'no other request reached the service');

      // A request whose client disconnects counts too.
      testGateway.workspace.answer = () => undefined;
      for (let count = 5; count <= 8; count += 1) {
        const client = await RawClient.open(testGateway.api);
        client.send(request(`POST ${path}`, [`Authorization: Bearer ${newToken()}`, 'X-Forwarded-For: 203.0.113.41']));
        await eventually(() => testGateway.workspace.started === count);
        client.destroy();
      }
      testGateway.workspace.answer = (_req, res) => void res.writeHead(404).end('{}');
      assert.equal(
        (await call(testGateway, `POST ${path}`, newToken(), ['X-Forwarded-For: 203.0.113.41'])).status,
        429,
      );
    });

    it('of sync applies for each person and network only when the operator sets it [limits.rate.sync]', async () => {
      const limited = await startTestGateway({ RATE_LIMITS: 'sync.deltas=2/60s, sync.batch.network=1/60s' });
      try {
        const { token } = limited.newKey(['read']);
        const polls = await statuses(3, () => call(limited, 'GET /sync/deltas', token));
        assert.deepEqual(polls, [200, 200, 429]);
        assert.equal((await call(limited, 'GET /sync/deltas', limited.readKey)).status, 200);
        assert.deepEqual(await statuses(2, () => call(limited, 'POST /sync/batch', token)), [200, 429]);
        assert.equal((await call(limited, 'POST /sync/batch', limited.readKey)).status, 429);
        assert.equal((await call(limited, 'POST /sync/mutate', limited.fullKey)).status, 200);
      } finally {
        await limited.close();
      }
    });

    it('of bad credentials replaces 401, and does not affect good credentials [limits.rate.credentials, limits.rate.address]', async () => {
      const from = (address: string): string[] => [`X-Forwarded-For: ${address}`];
      const bad = (index: number, address: string): Promise<RawReply> =>
        call(testGateway, 'GET /sync/deltas', `wrong-${index}`, from(address));
      // An IPv6 network of 64 bits is one sender.
      const all = await statuses(4, (index) => bad(index, `2001:db8:0:7::${index}`));
      assert.deepEqual(all, [401, 401, 401, 429]);
      assert.equal((await bad(5, '2001:db8:0:8::1')).status, 401);
      assert.equal(
        (await call(testGateway, 'GET /sync/deltas', testGateway.readKey, from('2001:db8:0:7::9'))).status,
        200,
      );
      assert.deepEqual(
        await statuses(4, (index) => bad(index, index % 2 === 0 ? '198.51.100.1' : '::ffff:198.51.100.1')),
        [401, 401, 401, 429],
      );
    });
  });

  describe('at a gateway without trusted proxies', () => {
    it('cannot be evaded by other addresses in headers [limits.rate.address]', async () => {
      const testGateway = await startTestGateway({ RATE_LIMITS: '{"credentials": 2}' });
      try {
        const headers = (index: number): string[] =>
          ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP'].map(
            (name) => `${name}: 203.0.113.${index}`,
          );
        const all = await statuses(3, (index) => call(testGateway, 'GET /sync/deltas', 'wrong', headers(index)));
        assert.deepEqual(all, [401, 401, 429]);
      } finally {
        await testGateway.close();
      }
    });
  });

  describe('at several gateways', () => {
    let nats: NatsServer;
    const open: TestGateway[] = [];
    const start = async (): Promise<TestGateway> => {
      const testGateway = await startTestGateway({ ...PROXIED, NATS_URL: nats.url, RATE_LIMITS: '{"credentials": 6}' });
      open.push(testGateway);
      return testGateway;
    };
    before(async () => (nats = await testNats('gateway-rates')));
    after(async () => {
      for (const testGateway of open) await testGateway.close();
      await nats[Symbol.asyncDispose]();
    });
    const bad = (testGateway: TestGateway, address: string): Promise<RawReply> =>
      call(testGateway, 'GET /sync/deltas', 'wrong', [`X-Forwarded-For: ${address}`]);
    /** A credential refused with 429 was counted together with those before it. */
    const untilRefused = (testGateway: TestGateway, address: string): Promise<boolean> =>
      eventually(async () => (await bad(testGateway, address)).status === 429 || undefined);

    it('is shared by all of them, also by one that starts later, and applies to each alone without NATS [limits.rate.shared]', async () => {
      const [one, other] = [await start(), await start()];
      for (const testGateway of [one, other])
        await eventually(async () => testGateway.logs().includes('connected to NATS') || undefined);
      const halves = await statuses(6, (index) => bad(index % 2 === 0 ? one : other, '203.0.113.1'));
      assert.deepEqual(halves, Array(6).fill(401));
      await untilRefused(one, '203.0.113.1');
      await untilRefused(other, '203.0.113.1');

      const later = await start();
      await untilRefused(later, '203.0.113.1');
      assert.equal((await bad(later, '203.0.113.2')).status, 401);

      await nats.stop();
      assert.deepEqual(await statuses(7, () => bad(one, '203.0.113.3')), [...Array<number>(6).fill(401), 429]);
      assert.equal((await bad(other, '203.0.113.3')).status, 401, 'it has counted none by itself');
      await nats.start();
      await untilRefused(other, '203.0.113.3');
    });
  });

  describe('at two gateways in parallel', () => {
    it('accepts no more than at one [limits.rate.at-once, limits.rate.shared]', async () => {
      await using stack = new AsyncDisposableStack();
      const nats = stack.use(await testNats('gateway-rates-at-once'));
      const open = async (name: string) => {
        const tally = new Tally();
        const { changed } = shareRates(tally, openNats({ natsUrls: [nats.url], name, log, stack }), stack);
        // On a busy machine a message takes longer than the limiter waits by default.
        const rates = new RateLimiter({
          tally,
          onCounted: changed,
          limits: { graphql: { limit: 30 } },
          settleMs: 1_000,
        });
        return { edge: stack.use(await openBareEdge(GRAPHQL, undefined, undefined, rates)), tally, changed };
      };
      const gateways = [await open('one'), await open('other')];
      const send = async (index: number): Promise<number> =>
        (await exchange(gateways[index % 2]!.edge.port, request('POST /graphql'))).status;
      // Until each has received a message of the other.
      await eventually(() => {
        for (const { tally, changed } of gateways) {
          tally.add('before', 60_000);
          changed();
        }
        return gateways.every(({ tally }) => tally.replicas === 2);
      });
      const all = await Promise.all(Array.from({ length: 200 }, (_, index) => send(index)));
      const accepted = all.filter((status) => status === 401).length;
      assert.ok(accepted > 15 && accepted <= 30, `${accepted} accepted`);
      assert.equal(all.filter((status) => status === 429).length, 200 - accepted);
    });
  });

  describe('of GraphQL', () => {
    let edge: BareEdge;
    before(async () => (edge = await openBareEdge(GRAPHQL)));
    after(() => edge[Symbol.asyncDispose]());

    it('is 100 in 60 seconds per address, with refused requests and without preflights [graphql.limit.rate]', async () => {
      const { port } = edge;
      const post = (): Promise<RawReply> => exchange(port, request('POST /graphql'));
      assert.deepEqual(new Set(await statuses(100, post)), new Set([401]));
      const refused = await post();
      errorOf(refused, 429, 'rate_limited');
      assert.deepEqual(refused.headers['ratelimit-policy'], ['"graphql";q=100;w=60']);
      assert.equal((await exchange(port, request('OPTIONS /graphql'))).status, 204);
    });
  });
});
