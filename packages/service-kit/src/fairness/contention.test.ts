import assert from 'node:assert/strict';
import { stoppedClock } from '@wts/testkit';
import { Contention } from './contention.ts';

describe('contention', () => {
  it('makes no person yield while no person waits, however much they use', () => {
    using clock = stoppedClock();
    const contention = new Contention();
    for (let n = 0; n < 1000; n += 1) {
      contention.used(`person ${n % 3}`, 20);
      contention.waited('reader', 4);
      clock.advance(10);
    }
    assert.deepEqual([contention.mustYield('person 0'), contention.pauseMs('person 0')], [false, 0]);
  });

  it('makes a person yield to one who used less and waits, until that wait is over [never.one-takes-all]', () => {
    using clock = stoppedClock();
    const contention = new Contention();
    for (let n = 0; n < 100; n += 1) {
      contention.used('importer', 20);
      contention.waited('writer', 30);
      contention.used('writer', 1);
      clock.advance(10);
    }
    assert.deepEqual([contention.mustYield('importer'), contention.mustYield('writer')], [true, false]);
    assert.ok(contention.pauseMs('importer') > 0);
    assert.equal(contention.pauseMs('writer'), 0);
    clock.advance(300);
    assert.deepEqual([contention.mustYield('importer'), contention.pauseMs('importer')], [false, 0]);
  });

  it('gives a person who must yield a quarter of the time', () => {
    using clock = stoppedClock();
    const contention = new Contention();
    let usedMs = 0;
    for (let atMs = 0; atMs < 10_000; atMs += 1) {
      contention.waited('writer', 30);
      clock.advance(1);
      if (contention.pauseMs('importer') > 0) continue;
      contention.used('importer', 1);
      usedMs += 1;
    }
    assert.ok(usedMs > 2400 && usedMs < 2700, `${usedMs} of 10,000 ms`);
  });

  it('makes busy people who use about the same never yield to each other, although they wait for each other', () => {
    using clock = stoppedClock();
    const contention = new Contention();
    for (let n = 0; n < 1000; n += 1) {
      const person = `person ${n % 4}`;
      contention.waited(person, 50);
      contention.used(person, 5 + (n % 7));
      clock.advance(8);
      // From the first moments on, before which the first of them is the only one with any use.
      if (n >= 24)
        for (let other = 0; other < 4; other += 1) assert.equal(contention.mustYield(`person ${other}`), false);
    }
  });
});
