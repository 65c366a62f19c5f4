import assert from 'node:assert/strict';
import { Fault } from '@wts/contracts';
import { Addresses, createLogger, REST_MS, REST_MS_MAX } from '../src/index.ts';
import type { Address } from '../src/index.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const origins = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'];
const refusal = new Error('refused');
const timeouts = { connectTimeoutMs: 1000, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
const options = { name: 'sync', log, underWayMax: 10, connections: 1, ...timeouts };

describe('the addresses of a service', () => {
  let addresses: Addresses;
  beforeEach(() => {
    addresses = new Addresses({ ...options, urls: origins });
  });
  afterEach(() => addresses.close());

  const ports = (picks: readonly (Address | null)[]): (string | undefined)[] =>
    picks.map((address) => address?.origin.port);
  const pickAt = (now: number): Address => {
    const address = addresses.pick(null, now);
    assert.ok(address);
    return address;
  };

  it('are taken in turn', () => {
    assert.deepEqual(ports([1, 2, 3, 4].map(() => pickAt(0))), ['1', '2', '3', '1']);
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

  it('rest after a refused connection, longer each time up to a bound, and not past an answer', () => {
    const first = pickAt(0);
    addresses.failed(first, refusal, 0);
    assert.deepEqual(ports([1, 2, 3, 4].map(() => pickAt(1))), ['2', '3', '2', '3']);
    assert.ok([1, 2, 3].map(() => pickAt(REST_MS)).includes(first));
    for (let count = 0; count < 20; count += 1) addresses.failed(first, refusal, first.restsUntil);
    const last = first.restsUntil;
    addresses.failed(first, refusal, last);
    assert.equal(first.restsUntil, last + REST_MS_MAX);
    addresses.answered(first);
    assert.ok([1, 2, 3].map(() => pickAt(1)).includes(first));
  });

  it('rest no longer for many requests that failed at once than for one', () => {
    const first = pickAt(0);
    for (let count = 0; count < 100; count += 1) addresses.failed(first, refusal, 1);
    assert.equal(first.restsUntil, 1 + REST_MS);
  });

  it('are tried all the same when all of them rest, the one that rested longest first', () => {
    for (const now of [30, 10, 20]) addresses.failed(pickAt(0), refusal, now);
    assert.equal(pickAt(40).origin.port, '2');
  });

  it('take no more calls at a time than their bound [never.unbounded]', () => {
    for (let count = 0; count < options.underWayMax; count += 1) addresses.enter();
    assert.throws(
      () => addresses.enter(),
      (error: unknown) => error instanceof Fault && error.code === 'unavailable',
    );
    addresses.leave();
    addresses.enter();
  });

  it('are at least one', () => {
    assert.throws(() => new Addresses({ ...options, urls: [] }), /no address/);
  });
});
