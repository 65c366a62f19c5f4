import assert from 'node:assert/strict';
import { Fault } from '@wts/contracts';
import { createLogger } from '@wts/service-kit';
import { EDGE_LIMITS } from './limits.ts';
import { Upstream } from './upstream.ts';
import type { Target } from './upstream.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const origins = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'];
const refusal = new Error('refused');

describe('the addresses of a service', () => {
  let upstream: Upstream;
  beforeEach(() => {
    upstream = new Upstream('sync', origins, log);
  });
  afterEach(() => upstream.close());

  const ports = (picks: readonly (Target | null)[]): (string | undefined)[] =>
    picks.map((target) => target?.origin.port);
  const pickAt = (now: number): Target => {
    const target = upstream.pick(null, now);
    assert.ok(target);
    return target;
  };

  it('are taken in turn', () => {
    assert.deepEqual(ports([1, 2, 3, 4].map(() => pickAt(0))), ['1', '2', '3', '1']);
  });

  it('are each tried once for one request', () => {
    const tried = new Set<Target>();
    const picks: (Target | null)[] = [];
    for (let target = upstream.pick(tried); target !== null; target = upstream.pick(tried)) {
      tried.add(target);
      picks.push(target);
    }
    assert.deepEqual(ports(picks), ['1', '2', '3']);
  });

  it('rest after a refused connection, longer each time up to a bound, and not past an answer', () => {
    const first = pickAt(0);
    upstream.failed(first, refusal, 0);
    assert.deepEqual(ports([1, 2, 3, 4].map(() => pickAt(1))), ['2', '3', '2', '3']);
    assert.ok([1, 2, 3].map(() => pickAt(EDGE_LIMITS.ejectMs)).includes(first));
    for (let count = 0; count < 20; count += 1) upstream.failed(first, refusal, first.ejectedUntil);
    const last = first.ejectedUntil;
    upstream.failed(first, refusal, last);
    assert.equal(first.ejectedUntil, last + EDGE_LIMITS.ejectMsMax);
    upstream.answered(first);
    assert.ok([1, 2, 3].map(() => pickAt(1)).includes(first));
  });

  it('rest no longer for many requests that failed at once than for one', () => {
    const first = pickAt(0);
    for (let count = 0; count < 100; count += 1) upstream.failed(first, refusal, 1);
    assert.equal(first.ejectedUntil, 1 + EDGE_LIMITS.ejectMs);
  });

  it('are tried all the same when all of them rest, the one that rested longest first', () => {
    for (const now of [30, 10, 20]) upstream.failed(pickAt(0), refusal, now);
    assert.equal(pickAt(40).origin.port, '2');
  });

  it('take no more requests at a time than their bound', () => {
    for (let count = 0; count < EDGE_LIMITS.inFlightMax; count += 1) upstream.enter();
    assert.throws(
      () => upstream.enter(),
      (error: unknown) => error instanceof Fault && error.code === 'unavailable',
    );
    upstream.leave();
    upstream.enter();
  });

  it('are at least one', () => {
    assert.throws(() => new Upstream('sync', [], log), /no address/);
  });
});
