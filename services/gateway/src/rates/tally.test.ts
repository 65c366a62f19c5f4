import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Tally, type Report } from './tally.ts';

const WINDOW_MS = 60_000;

describe('a tally', () => {
  it('counts in a window that opens with the first event and ends after its length', () => {
    let now = 1_000_000;
    const tally = new Tally(() => now);
    assert.deepEqual(tally.add('a', WINDOW_MS).window, { count: 1, endsAt: now + WINDOW_MS });
    now += WINDOW_MS - 1;
    assert.equal(tally.add('a', WINDOW_MS).window.count, 2);
    assert.equal(tally.read('a', WINDOW_MS).count, 2);
    now += 1;
    assert.equal(tally.read('a', WINDOW_MS).count, 0);
    assert.equal(tally.add('a', WINDOW_MS).window.count, 1);
  });

  it('is the same for all replicas, with reports in any order and any number of times', () => {
    const event = fc.record({ replica: fc.nat(2), key: fc.constantFrom('a', 'b'), isTakenBack: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (events, random) => {
        const tallies = [0, 1, 2].map(() => new Tally(() => 1_000_000));
        const published: [from: number, reports: Report[]][] = [];
        for (const { replica, key, isTakenBack } of events) {
          const count = tallies[replica]?.add(key, WINDOW_MS);
          published.push([replica, tallies[replica]?.changes() ?? []]);
          if (!isTakenBack) continue;
          count?.takeBack();
          count?.takeBack();
          published.push([replica, tallies[replica]?.changes() ?? []]);
        }
        const deliveries = [...published, ...published].map((delivery) => ({
          delivery,
          at: random.next().value as number,
        }));
        for (const { delivery } of deliveries.toSorted((one, other) => one.at - other.at)) {
          tallies.forEach((tally, index) => {
            if (index !== delivery[0]) tally.merge(String(delivery[0]), delivery[1]);
          });
        }
        for (const key of ['a', 'b']) {
          const wanted = events.filter((one) => one.key === key && !one.isTakenBack).length;
          for (const tally of tallies) assert.equal(tally.read(key, WINDOW_MS).count, wanted);
        }
      }),
    );
  });

  it('uses the window that ends first', () => {
    const tally = new Tally(() => 1_000_000);
    tally.add('a', WINDOW_MS);
    tally.merge('other', [['a', 1_000_000 + WINDOW_MS - 5, 3]]);
    assert.deepEqual(tally.read('a', WINDOW_MS), { count: 4, endsAt: 1_000_000 + WINDOW_MS - 5 });
    assert.deepEqual(tally.changes(), [['a', 1_000_000 + WINDOW_MS - 5, 1]]);
  });

  it('ends a window in time when the clock is set back, or that of another replica is ahead', () => {
    let now = 10_000_000;
    const tally = new Tally(() => now);
    tally.add('a', WINDOW_MS);
    now -= 3_600_000;
    tally.merge('other', [['b', now + 5 * WINDOW_MS, 100]]);
    for (const key of ['a', 'b']) assert.equal(tally.add(key, WINDOW_MS).window.endsAt, now + WINDOW_MS);
    now += WINDOW_MS;
    for (const key of ['a', 'b']) assert.equal(tally.add(key, WINDOW_MS).window.count, 1);
  });

  it('returns to a restarted replica what it counted before', () => {
    const old = new Tally(() => 1_000_000);
    const observer = new Tally(() => 1_000_000);
    old.add('a', WINDOW_MS);
    observer.merge('old', old.changes());
    const fresh = new Tally(() => 1_000_000);
    for (const [replica, reports] of observer.countsOfOthers()) fresh.merge(replica, reports);
    assert.equal(fresh.read('a', WINDOW_MS).count, 1);
  });

  it('ignores reports of a window that has ended or is too long', () => {
    const tally = new Tally(() => 1_000_000);
    tally.merge('other', [
      ['over', 1_000_000, 9],
      ['long', 1e15, 9],
    ]);
    assert.equal(tally.size, 0);
  });

  it('is bounded: the oldest entry is removed first [never.unbounded]', () => {
    const tally = new Tally(() => 1_000_000, 3);
    for (const key of ['a', 'b', 'c', 'd']) tally.add(key, WINDOW_MS);
    assert.equal(tally.size, 3);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => tally.read(key, WINDOW_MS).count),
      [0, 1, 1, 1],
    );
  });
});
