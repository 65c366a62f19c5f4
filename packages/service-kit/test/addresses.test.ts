import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { Addresses, BACKOFF_MS, BACKOFF_MS_MAX, socketsOf, type Address } from '../src/call/index.ts';
import { createLogger } from '../src/observe/index.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const origins = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'];
const refusal = new Error('refused');
const timeouts = { connectTimeoutMs: 1000, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
const options = { name: 'sync', log, underWayMax: 10, connections: 100, ...timeouts };

describe('the addresses of a service', () => {
  let addresses: Addresses;
  beforeEach(() => (addresses = new Addresses({ ...options, urls: origins })));
  afterEach(() => addresses.close());

  const ports = (picks: readonly (Address | null)[]): (string | undefined)[] =>
    picks.map((address) => address?.origin.port);
  const pick = (): Address => {
    const address = addresses.pick();
    assert.ok(address);
    return address;
  };

  it('are taken in turn', () => assert.deepEqual(ports([1, 2, 3, 4].map(() => pick())), ['1', '2', '3', '1']));

  it('are chosen by the fewest requests under way, for sockets by the fewest sockets', () => {
    const [one, two, three] = [pick(), pick(), pick()];
    const ends = [one, one, three].map((address) => addresses.begin(address));
    assert.deepEqual(ports([pick(), pick()]), ['2', '2']);
    ends.forEach((end) => end());
    ends.forEach((end) => end());
    assert.deepEqual([one.underWay, two.underWay, three.underWay], [0, 0, 0], 'each end counts once');
    one.sockets = 2;
    two.sockets = 1;
    three.sockets = 3;
    assert.equal(addresses.pick(null, socketsOf), two);
  });

  it('are each tried once for one request', () => {
    const tried = new Set<Address>();
    const picks: (Address | null)[] = [];
    for (let address = addresses.pick(tried); address !== null; address = addresses.pick(tried)) {
      tried.add(address);
      picks.push(address);
    }
    assert.deepEqual(ports(picks), ['1', '2', '3']);
  });

  it('get no request after a failure until they reply, with pauses that grow up to a bound', () => {
    const first = pick();
    addresses.failed(first, refusal, 0);
    assert.deepEqual(ports([1, 2, 3, 4].map(() => pick())), ['2', '3', '2', '3']);
    assert.equal(first.backoffUntil, BACKOFF_MS);
    for (let count = 0; count < 20; count += 1) addresses.failed(first, refusal, first.backoffUntil);
    const last = first.backoffUntil;
    addresses.failed(first, refusal, last);
    assert.equal(first.backoffUntil, last + BACKOFF_MS_MAX);
    addresses.answered(first);
    assert.ok([1, 2, 3].map(() => pick()).includes(first));
  });

  it('pause no longer for many concurrent failures than for one', () => {
    const first = pick();
    for (let count = 0; count < 100; count += 1) addresses.failed(first, refusal, 1);
    assert.equal(first.backoffUntil, 1 + BACKOFF_MS);
  });

  it('are tried when all of them have failed, the one whose pause ends first', () => {
    for (const now of [30, 10, 20]) addresses.failed(pick(), refusal, now);
    assert.equal(pick().origin.port, '2');
  });

  it('accept no more concurrent calls than their bound [never.unbounded]', () => {
    for (let count = 0; count < options.underWayMax; count += 1) addresses.enter();
    assert.throws(
      () => addresses.enter(),
      (error: unknown) => error instanceof Fault && error.code === 'unavailable',
    );
    addresses.leave();
    addresses.enter();
  });

  it('are at least one', () => assert.throws(() => new Addresses({ ...options, urls: [] }), /no address/));
});

/** A process of the service: all of them have one port, each an address of its own. */
class Replica {
  readonly ip: string;
  readonly server: Server;
  readonly held: ServerResponse[] = [];
  served = 0;
  isFrozen = false;

  constructor(ip: string) {
    this.ip = ip;
    this.server = createServer((req, res) => {
      if (this.isFrozen) return void this.held.push(res);
      if (req.url !== '/health') this.served += 1;
      res.end(req.headers.host);
    });
  }

  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, this.ip, () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  thaw(): void {
    this.isFrozen = false;
    for (const res of this.held.splice(0)) res.end();
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe('a name with several addresses', () => {
  let replicas: Replica[];
  let found: LookupAddress[] | Error;
  let addresses: Addresses;
  let url: string;
  beforeEach(async () => {
    replicas = [1, 2, 3, 4].map((index) => new Replica(`127.0.0.${index}`));
    const port = await replicas[0]!.listen(0);
    await Promise.all(replicas.slice(1).map((replica) => replica.listen(port)));
    url = `http://sync.cluster.test:${port}`;
    names(1, 2, 3);
    await open({ quietMs: 30_000, probeMs: 30_000, everyMs: 20 });
  });
  afterEach(async () => {
    await addresses.close();
    for (const replica of replicas) replica.close();
  });

  async function open(watch: { quietMs: number; probeMs: number; everyMs: number }): Promise<void> {
    addresses = new Addresses({
      ...options,
      urls: [url],
      refreshMs: 20,
      lookUp: async (name) => {
        assert.equal(name, 'sync.cluster.test');
        if (found instanceof Error) throw found;
        return found;
      },
      watch,
    });
    await until(3);
  }

  function names(...indexes: number[]): void {
    found = indexes.map((index) => ({ address: `127.0.0.${index}`, family: 4 }));
  }
  const until = (count: number): Promise<boolean> => eventually(() => addresses.count === count);
  const served = (): number[] => replicas.map((replica) => replica.served);

  /** One request, as callers make them; what it was answered. */
  async function ask(onLost?: () => void): Promise<string> {
    const address = addresses.pick();
    assert.ok(address);
    const controller = new AbortController();
    const end = addresses.begin(address, () => {
      controller.abort();
      onLost?.();
    });
    try {
      const { body } = await address.pool.request({ method: 'GET', path: '/', signal: controller.signal });
      const text = await body.text();
      addresses.answered(address);
      return text;
    } finally {
      end();
    }
  }

  it('counts as all of them, and each gets as many requests as the others [never.one-frozen]', async () => {
    for (let count = 0; count < 30; count += 1) assert.equal(await ask(), new URL(url).host);
    assert.deepEqual(served(), [10, 10, 10, 0]);
    await Promise.all(Array.from({ length: 30 }, () => ask()));
    assert.deepEqual(served(), [20, 20, 20, 0]);
  });

  it('is resolved again: new addresses get requests, removed ones none, and their requests under way finish', async () => {
    const [, second] = replicas;
    second!.isFrozen = true;
    const answers = Array.from({ length: 3 }, () => ask());
    await eventually(() => second!.held.length === 1);
    names(1, 3, 4);
    await eventually(async () => {
      await ask();
      return replicas[3]!.served > 0;
    });
    second!.thaw();
    assert.equal((await Promise.all(answers)).length, 3);
    const before = second!.served;
    for (let count = 0; count < 9; count += 1) await ask();
    assert.equal(second!.served, before);
  });

  it('keeps its last addresses while it cannot be resolved, or has none', async () => {
    for (const nothing of [new Error('no answer from the name server'), []]) {
      found = nothing;
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(addresses.count, 3);
      await ask();
    }
    names(4);
    await until(1);
    await ask();
    assert.equal(replicas[3]!.served, 1);
  });

  it('works without one that hangs: it gets a few requests, which fail, and is used again when it replies [never.one-frozen]', async () => {
    await addresses.close();
    // The replies of the others take longer than this only when this process stands still for so long.
    await open({ quietMs: 200, probeMs: 1_000, everyMs: 20 });
    const [frozen] = replicas;
    frozen!.isFrozen = true;
    let lost = 0;
    let failed = 0;
    const attempt = async (): Promise<void> => {
      try {
        await ask(() => (lost += 1));
      } catch {
        failed += 1;
      }
    };
    const first = Array.from({ length: 3 }, attempt);
    await eventually(() => frozen!.held.length > 0);
    for (let count = 0; count < 100; count += 1) await Promise.all([attempt(), attempt()]);
    await Promise.all(first);
    assert.ok(failed > 0 && failed <= 3, `${failed} of 203 failed`);
    assert.equal(lost, failed);
    frozen!.thaw();
    frozen!.served = 0;
    await eventually(async () => {
      await attempt();
      return frozen!.served > 0;
    });
  });

  it('works without one that is down, and no request fails when it is up again', async () => {
    const [gone] = replicas;
    const { port } = gone!.server.address() as AddressInfo;
    gone!.close();
    const target = await eventually(() => {
      const address = addresses.pick();
      return address?.ip === '127.0.0.1' ? address : null;
    });
    addresses.failed(target, refusal);
    for (let count = 0; count < 20; count += 1) await ask();
    await new Promise((resolve) => setTimeout(resolve, 20));
    replicas[0] = new Replica('127.0.0.1');
    await replicas[0].listen(port);
    await eventually(async () => {
      await ask();
      return replicas[0]!.served > 0;
    });
  });
});
