import assert from 'node:assert/strict';
import { Fault } from '@wts/contracts';
import { eventually, stoppedClock } from '@wts/testkit';
import fc from 'fast-check';
import { Contention } from './contention.ts';
import { FairGate, type FairGateOptions, type FairTask } from './fair-gate.ts';

const PEOPLE = ['a', 'b', 'c', 'd', 'e', 'f'];

/** A gate whose tasks end when the test ends them. */
class TestGate {
  readonly gate: FairGate;
  readonly begun: { readonly name: string; readonly person: string; readonly end: () => void }[] = [];
  readonly refused: { readonly name: string; readonly reason: unknown }[] = [];

  constructor(options: Partial<FairGateOptions> = {}) {
    this.gate = new FairGate({ slots: 4, waitMs: 60_000, waitingMax: 1000, refusal: 'Too much', ...options });
  }

  start(person: string, name: string, options: FairTask = {}): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gate
      .run(person, options, () => {
        this.begun.push({ name, person, end: resolve });
        return promise;
      })
      .catch((reason: unknown) => this.refused.push({ name, reason }));
  }

  async end(index: number): Promise<void> {
    this.begun.splice(index, 1)[0]?.end();
    await settled();
  }

  async close(): Promise<void> {
    while (this.begun.length > 0) await this.end(0);
    assert.equal(this.gate.waiting + this.gate.running, 0);
  }

  running(person: string): number {
    return this.begun.filter((task) => task.person === person).length;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the fair gate', () => {
  it('gives a free slot to a person who is not paused, and to a paused one when the pause is over [never.one-takes-all]', async () => {
    let isPaused = true;
    const contention = new Contention();
    contention.pauseMs = (person) => (person === 'a' && isPaused ? 5 : 0);
    const gated = new TestGate({ contention });
    gated.start('a', 'a1');
    gated.start('b', 'b1');
    await settled();
    assert.deepEqual([gated.running('a'), gated.running('b')], [0, 1]);
    isPaused = false;
    await eventually(() => gated.running('a') === 1);
    isPaused = true;
    gated.start('a', 'a2');
    await gated.end(0);
    assert.equal(gated.running('a'), 1);
    isPaused = false;
    await eventually(() => gated.begun.at(-1)?.name === 'a2');
    await gated.close();
  });

  it('makes busy people yield to one whose task takes longer than usual while most slots are taken [never.one-takes-all]', async () => {
    const contention = new Contention();
    const gated = new TestGate({ slots: 4, contention });
    const run = async (person: string, durationMs: number): Promise<void> => {
      gated.start(person, person, { kind: 'page' });
      await settled();
      clock.advance(durationMs);
      await gated.end(gated.begun.findIndex((task) => task.person === person));
    };
    using clock = stoppedClock();
    await run('a', 2);
    for (const busy of ['b', 'c']) gated.start(busy, busy, { kind: 'page', isLarge: true });
    await settled();
    // As long as usual.
    await run('a', 3);
    assert.equal(contention.mustYield('d'), false);
    gated.start('d', 'd', { isLarge: true });
    await settled();
    clock.advance(200);
    await gated.end(gated.begun.findIndex(({ name }) => name === 'd'));
    // With half of the slots free it is slow for another reason.
    gated.start('a', 'alone', { kind: 'page' });
    clock.advance(20);
    await gated.end(gated.begun.findIndex(({ name }) => name === 'b'));
    await gated.end(gated.begun.findIndex(({ name }) => name === 'alone'));
    assert.equal(contention.mustYield('d'), false);
    for (const busy of ['b', 'd']) gated.start(busy, busy, { kind: 'report' });
    await run('a', 20);
    assert.equal(contention.mustYield('d'), true);
    assert.equal(contention.mustYield('a'), false);
    await gated.close();
  });

  it('starts what waits before a task that comes when the pause is over [never.one-takes-all]', async () => {
    let isPaused = true;
    const contention = new Contention();
    contention.pauseMs = () => (isPaused ? 60_000 : 0);
    const gated = new TestGate({ contention });
    gated.start('a', 'a1');
    await settled();
    assert.equal(gated.gate.waiting, 1);
    isPaused = false;
    gated.start('a', 'a2');
    await settled();
    assert.deepEqual(
      gated.begun.map(({ name }) => name),
      ['a1', 'a2'],
    );
    // No slot stays taken.
    await gated.close();
  });

  it('gives a person alone all slots but one, and a quarter of the freed ones while others wait', async () => {
    const gated = new TestGate({ slots: 8 });
    for (let n = 0; n < 20; n += 1) gated.start('a', `a${n}`);
    await settled();
    assert.equal(gated.running('a'), 7);
    gated.start('e', 'e1');
    await settled();
    assert.equal(gated.running('e'), 1);
    await gated.end(7);
    for (let n = 0; n < 20; n += 1) for (const person of ['b', 'c', 'd']) gated.start(person, `${person}${n}`);
    for (let n = 0; n < 6; n += 1) await gated.end(0);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((person) => gated.running(person)),
      [2, 2, 2, 2],
    );
    await gated.close();
  });

  it('gives one person no more than slotsOfOneMax, and the others to other people', async () => {
    const gated = new TestGate({ slots: 5, slotsOfOneMax: 2 });
    for (let n = 0; n < 9; n += 1) gated.start('a', `a${n}`);
    for (let n = 0; n < 2; n += 1) gated.start('b', `b${n}`);
    await settled();
    assert.deepEqual([gated.running('a'), gated.running('b'), gated.gate.waiting], [2, 2, 7]);
    await gated.end(0);
    assert.deepEqual([gated.running('a'), gated.running('b')], [2, 2]);
    await gated.close();
  });

  it('gives a person alone all slots but one for short tasks, and slotsOfOneMax from the first long one on', async () => {
    using clock = stoppedClock();
    const gated = new TestGate({ slots: 8, slotsOfOneMax: 4, longMs: 10 });
    for (let n = 0; n < 20; n += 1) gated.start('a', `a${n}`);
    await settled();
    assert.equal(gated.running('a'), 7);
    for (let n = 0; n < 3; n += 1) await gated.end(0);
    assert.equal(gated.running('a'), 7);
    clock.advance(11);
    for (let n = 0; n < 3; n += 1) await gated.end(0);
    assert.equal(gated.running('a'), 4);
    await gated.end(0);
    assert.equal(gated.running('a'), 4);
    for (let n = 0; n < 9; n += 1) gated.start('b', `b${n}`);
    await settled();
    assert.equal(gated.running('b'), 4);
    await gated.close();
  });

  it('gives a person who pauses between long tasks no more than slotsOfOneMax, for ten times as long as the tasks took [never.one-takes-all]', async () => {
    using clock = stoppedClock();
    const gated = new TestGate({ slots: 8, slotsOfOneMax: 4, longMs: 10 });
    const runningOf = async (durationMs: number): Promise<number> => {
      for (let n = 0; n < 9; n += 1) gated.start('a', `a${n}`);
      await settled();
      const running = gated.running('a');
      clock.advance(durationMs);
      await gated.close();
      return running;
    };
    assert.equal(await runningOf(1_000), 7);
    clock.advance(9_000);
    assert.equal(await runningOf(11), 4);
    // A shorter one does not shorten it.
    clock.advance(500);
    assert.equal(await runningOf(1), 4);
    clock.advance(500);
    assert.equal(await runningOf(1), 7);
  });

  it('expects the wait of a person by their own tasks, so long tasks of another refuse none of theirs [never.one-takes-all]', async () => {
    using clock = stoppedClock();
    const gated = new TestGate({ slots: 8, slotsOfOneMax: 4, longMs: 10, waitMs: 10_000 });
    gated.start('b', 'b');
    await settled();
    clock.advance(1);
    await gated.end(0);
    for (let n = 0; n < 20; n += 1) gated.start('a', `a${n}`);
    await settled();
    clock.advance(9_000);
    for (let n = 0; n < 7; n += 1) await gated.end(0);
    for (let n = 0; n < 20; n += 1) gated.start('a', `more a${n}`);
    for (let n = 0; n < 20; n += 1) gated.start('b', `b${n}`);
    await settled();
    const refused = Map.groupBy(gated.refused, ({ name }) => name.includes('a'));
    assert.equal(refused.get(false), undefined);
    assert.ok((refused.get(true) ?? []).length > 0, 'its own backlog');
    await gated.close();
  });

  it('for any sequence of tasks: no idle slot but the spare one while work waits, shares kept, all tasks served, each person in order', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.tuple(fc.constant('start' as const), fc.nat(5), fc.integer({ min: 1, max: 9 })) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('end' as const), fc.nat(100), fc.constant(1)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('leave' as const), fc.nat(100), fc.constant(1)) },
    );
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 80 }),
      fc.integer({ min: 1, max: 9 }),
      async (steps, slots) => {
        const gated = new TestGate({ slots });
        const share = Math.max(1, Math.ceil(slots / 4));
        const waiting: { person: string; name: string; leave: AbortController }[] = [];
        const seen = new Set<string>();
        const begun = new Map<string, number>();
        let count = 0;
        /** After each step; `before` is what each person ran before the slot was granted. */
        const look = async (before: ReadonlyMap<string, number>): Promise<void> => {
          await settled();
          for (const { name, person } of gated.begun) {
            if (seen.has(name)) continue;
            seen.add(name);
            const number = Number(name.slice(1));
            assert.ok(number > (begun.get(person) ?? 0), `${name} out of order`);
            begun.set(person, number);
            const index = waiting.findIndex((one) => one.name === name);
            if (index !== -1) waiting.splice(index, 1);
            const isOver = (before.get(person) ?? 0) >= share;
            const passed = waiting.find((one) => (before.get(one.person) ?? 0) < share);
            assert.ok(!isOver || !passed, `${name} was given a slot before ${passed?.name}`);
          }
          assert.ok(gated.begun.length <= slots);
          const isReserve = (person: string): boolean => slots >= 4 && gated.running(person) === slots - 1;
          assert.ok(gated.begun.length === slots || waiting.every(({ person }) => isReserve(person)), 'a slot is idle');
        };
        const counts = (): Map<string, number> => new Map(PEOPLE.map((person) => [person, gated.running(person)]));
        for (const [kind, amount, cost] of steps) {
          if (kind === 'start') {
            const person = PEOPLE[amount]!;
            const name = `${person}${(count += 1)}`;
            const leave = new AbortController();
            waiting.push({ person, name, leave });
            const before = counts();
            gated.start(person, name, { cost, signal: leave.signal });
            await look(before);
          } else if (kind === 'end') {
            if (gated.begun.length === 0) continue;
            const index = amount % gated.begun.length;
            const before = counts();
            const { person } = gated.begun[index]!;
            before.set(person, before.get(person)! - 1);
            await gated.end(index);
            await look(before);
          } else if (waiting.length > 0) {
            const [left] = waiting.splice(amount % waiting.length, 1);
            left!.leave.abort();
            await look(counts());
            assert.equal(gated.refused.at(-1)?.name, left!.name);
          }
        }
        await gated.close();
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it('for any sequence of tasks and pauses: each task starts once, each person in order, and every slot comes back', async () => {
    const kinds = fc.constantFrom('start' as const, 'start' as const, 'end' as const, 'pause' as const);
    const property = fc.asyncProperty(
      fc.array(fc.tuple(kinds, fc.nat(2)), { minLength: 10, maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, slots) => {
        const paused = new Set<string>();
        const contention = new Contention();
        contention.pauseMs = (person) => (paused.has(person) ? 60_000 : 0);
        const gated = new TestGate({ slots, contention });
        const [started, begun] = [new Map<string, string[]>(), new Map<string, string[]>()];
        const start = (person: string): void => {
          const own = started.getOrInsertComputed(person, () => []);
          own.push(`${person}${own.length}`);
          gated.start(person, own.at(-1)!);
        };
        const note = async (): Promise<void> => {
          await settled();
          for (const { name, person } of gated.begun) {
            const own = begun.getOrInsertComputed(person, () => []);
            if (!own.includes(name)) own.push(name);
          }
        };
        for (const [kind, amount] of steps) {
          const person = PEOPLE[amount]!;
          if (kind === 'start') start(person);
          else if (kind === 'end') await gated.end(amount);
          else if (!paused.delete(person)) paused.add(person);
          await note();
        }
        paused.clear();
        for (const person of started.keys()) {
          start(person);
          await note();
        }
        for (await note(); gated.begun.length > 0; await note()) await gated.end(0);
        assert.deepEqual(begun, started);
        await gated.close();
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });

  it('immediately refuses a task that is not expected to start in time, but only behind the backlog of its own person', async () => {
    const gated = new TestGate({ slots: 1 });
    // A task of cost 1 takes milliseconds, so one of cost 1000 is expected to take seconds.
    gated.start('a', 'first');
    await new Promise((resolve) => setTimeout(resolve, 6));
    await gated.end(0);
    for (let n = 0; n < 30; n += 1) gated.start('a', `a${n}`, { cost: 1000 });
    await settled();
    assert.ok(gated.refused.length >= 10, `${gated.refused.length} refused`);
    const { reason } = gated.refused[0]!;
    assert.ok(reason instanceof Fault && reason.code === 'unavailable' && (reason.retryAfterSeconds ?? 0) >= 1);
    gated.start('b', 'b');
    await gated.end(0);
    assert.equal(gated.begun[0]?.person, 'b');
    assert.ok(gated.refused.every(({ name }) => name !== 'b'));
    await gated.close();
  });

  it('when full, refuses the latest task of the person with the most waiting [never.unbounded]', async () => {
    const gated = new TestGate({ slots: 1, waitingMax: 10, waitingBytesMax: 1000 });
    for (let n = 0; n < 30; n += 1) gated.start('a', `a${n}`, { bytes: 10 });
    await settled();
    assert.deepEqual([gated.gate.waiting, gated.refused.length], [10, 19]);
    gated.start('b', 'b', { bytes: 990 });
    await settled();
    assert.equal(gated.refused.length, 28 - (gated.gate.waiting - 2));
    assert.ok(gated.refused.some(({ name }) => name === 'b') || gated.gate.waiting <= 10);
    gated.start('c', 'c', { bytes: 10 });
    await settled();
    assert.ok(gated.refused.every(({ name }) => name !== 'c'));
    await gated.close();
  });

  it('starts no task of a client that disconnected or whose deadline passed', async () => {
    const gated = new TestGate({ slots: 1 });
    gated.start('a', 'first');
    const leaving = new AbortController();
    gated.start('b', 'disconnected', { signal: leaving.signal });
    gated.start('c', 'late', { deadlineMs: performance.now() + 5 });
    gated.start('d', 'waits');
    leaving.abort(new Error('left'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(
      gated.refused.map(({ name }) => name),
      ['disconnected', 'late'],
    );
    assert.ok(gated.refused[1]?.reason instanceof Fault);
    await gated.end(0);
    assert.deepEqual(
      gated.begun.map(({ name }) => name),
      ['waits'],
    );
    await gated.close();
    gated.start('a', 'never', { signal: AbortSignal.abort(new Error('left before')) });
    await settled();
    assert.equal(gated.refused.at(-1)?.name, 'never');
  });

  it('frees a slot exactly once, also when the task fails', async () => {
    const gate = new FairGate({ slots: 1, waitMs: 1000, waitingMax: 10, refusal: 'Too much' });
    await assert.rejects(
      gate.run('a', {}, () => Promise.reject(new Error('of the task'))),
      /of the task/,
    );
    const slot = await gate.enter('a');
    slot[Symbol.dispose]();
    slot[Symbol.dispose]();
    assert.equal(gate.running, 0);
  });
});
