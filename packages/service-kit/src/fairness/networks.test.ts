import assert from 'node:assert/strict';
import { stoppedClock } from '@wts/testkit';
import fc from 'fast-check';
import { CallerNetworks } from './caller-networks.ts';
import { Contention } from './contention.ts';
import { FairGate } from './fair-gate.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

/** A person `x3` is of the network `x`. */
const networkOf = (person: string): string => person.slice(0, 1);
const PEOPLE = ['x0', 'x1', 'x2', 'y0', 'y1', 'z0'];
const COST_MAX = 20;

const peopleOf = (network: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${network}${n}`);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('people of several networks', () => {
  it('for any sequence: whatever waits is served, each person in order, with the right sums, and two networks that wait, or two people of one, get shares that differ by one entry at most [never.one-takes-all]', () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(fc.constant('push'), fc.constantFrom(...PEOPLE), fc.integer({ min: 1, max: COST_MAX })),
      },
      { weight: 4, arbitrary: fc.tuple(fc.constant('shift'), fc.constantFrom(...PEOPLE), fc.constant(0)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('remove'), fc.constantFrom(...PEOPLE), fc.nat(100)) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queue = new FairQueue<number>(networkOf);
        const waiting = new Map(PEOPLE.map((person): [string, QueueEntry<number>[]] => [person, []]));
        /** What each got since the other began to wait, or both did: of people of one network, and of networks. */
        const got = new Map<string, Map<string, number>>();
        const isWaiting = (name: string): boolean =>
          waiting.entries().some(([person, own]) => person.startsWith(name) && own.length > 0);
        const rivalsOf = (name: string): string[] =>
          (name.length === 1 ? ['x', 'y', 'z'] : PEOPLE).filter(
            (other) => other !== name && other.length === name.length && (name.length === 1 || other[0] === name[0]),
          );
        const reset = (name: string): void => {
          for (const rival of rivalsOf(name)) {
            got.get(name)?.delete(rival);
            got.get(rival)?.delete(name);
          }
        };
        const count = (name: string, cost: number): void => {
          const own = got.get(name) ?? new Map<string, number>();
          got.set(name, own);
          for (const rival of rivalsOf(name).filter(isWaiting)) {
            own.set(rival, (own.get(rival) ?? 0) + cost);
            const lead = own.get(rival)! - (got.get(rival)?.get(name) ?? 0);
            assert.ok(lead <= 2 * COST_MAX, `${name} is ${lead} ahead of ${rival}`);
          }
        };
        for (const [kind, person, amount] of steps) {
          const own = waiting.get(person)!;
          if (kind === 'push') {
            for (const name of [person, networkOf(person)]) if (!isWaiting(name)) reset(name);
            own.push(queue.push(person, 0, { cost: amount, bytes: amount * 2 }));
          } else if (kind === 'remove') {
            const [removed] = own.splice(amount % (own.length || 1), 1);
            if (removed) assert.ok(queue.remove(removed) && !queue.remove(removed));
            for (const name of [person, networkOf(person)]) if (!isWaiting(name)) reset(name);
          } else {
            const entry = queue.shift();
            assert.equal(entry === undefined, ![...waiting.values()].some(({ length }) => length > 0));
            if (!entry) continue;
            assert.equal(waiting.get(entry.person)!.shift(), entry);
            for (const name of [entry.person, networkOf(entry.person)]) {
              count(name, entry.cost);
              if (!isWaiting(name)) reset(name);
            }
          }
          const all = [...waiting.values()].flat();
          const cost = all.reduce((sum, entry) => sum + entry.cost, 0);
          assert.deepEqual(queue.load, { size: all.length, cost, bytes: cost * 2 });
          assert.equal(queue.of(person).size, waiting.get(person)!.length);
        }
      }),
    );
  });

  it('get half each when thirty of one network wait beside one of another, and the thirty share theirs', () => {
    const queue = new FairQueue<number>(networkOf);
    for (let n = 0; n < 100; n += 1) for (const person of peopleOf('x', 30)) queue.push(person, n);
    for (let n = 0; n < 1000; n += 1) queue.push('y0', n);
    const served = Map.groupBy(
      Array.from({ length: 600 }, () => queue.shift()!.person),
      (person) => person,
    );
    assert.equal(served.get('y0')?.length, 300);
    for (const person of peopleOf('x', 30)) assert.equal(served.get(person)?.length, 10);
  });

  it('give a person who calls from several of them, in any order, no more than the one that gives most [never.one-takes-all]', () => {
    const others = ['x', 'y', 'z'].flatMap((network, index) => peopleOf(network, 2 + index * 4));
    /** How much is served for a person with one entry at a time, who calls from these networks. */
    const servedOf = (networks: readonly string[], cost: number): number => {
      let calls = 0;
      let served = 0;
      const queue = new FairQueue<number>((person) =>
        person === 'me' ? networks[calls % networks.length]! : networkOf(person),
      );
      for (const person of others) for (let n = 0; n < 400; n += 1) queue.push(person, n, { cost: 3 });
      queue.push('me', 0, { cost });
      for (let n = 0; n < 400; n += 1) {
        if (queue.shift()?.person !== 'me') continue;
        served += cost;
        calls += 1;
        queue.push('me', 0, { cost });
      }
      return served;
    };
    const networks = fc.array(fc.constantFrom('x', 'y', 'z', 'w'), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(networks, fc.integer({ min: 1, max: 60 }), (visited, cost) => {
        const best = Math.max(...visited.map((network) => servedOf([network], cost)));
        const served = servedOf(visited, cost);
        assert.ok(served <= best + 2 * cost, `${served} instead of ${best}`);
      }),
      { numRuns: 30 },
    );
  });

  it('are skipped as a whole when they have all they may have, so a free slot does not take longer the more of them wait [never.one-takes-all]', async () => {
    let looks = 0;
    const gate = new FairGate({
      slots: 4,
      waitMs: 60_000,
      waitingMax: Infinity,
      refusal: 'Too much',
      networkOf: (person) => {
        looks += 1;
        return networkOf(person);
      },
    });
    const stop = new AbortController();
    const slots = await Promise.all(peopleOf('x', 3).map((person) => gate.enter(person)));
    for (const person of peopleOf('x', 1000)) gate.enter(person, stop).catch(() => undefined);
    slots.push(await gate.enter('y0'));
    looks = 0;
    slots.pop()?.[Symbol.dispose]();
    assert.equal(gate.running, 3);
    assert.ok(looks < 50, `${looks} looks`);
    stop.abort();
    for (const slot of slots) slot[Symbol.dispose]();
    await settled();
    assert.equal(gate.waiting + gate.running, 0);
  });

  it('are skipped as a whole while they are paused [never.one-takes-all]', () => {
    const queue = new FairQueue<number>(networkOf);
    for (const person of [...peopleOf('x', 100), 'y0']) queue.push(person, 0);
    const visited: string[] = [];
    const next = queue.shift(
      (person) => visited.push(person) > 0,
      (network) => network !== 'x',
    );
    assert.deepEqual([next?.person, visited], ['y0', ['y0']]);
    assert.equal(queue.shift()?.person, 'x0');
  });

  it('are stored while they wait, and a thousand others at most [never.unbounded]', () => {
    const queue = new FairQueue<number>((person) => `network ${Number(person) % 1500}`);
    for (let n = 0; n < 5000; n += 1) {
      queue.push(String(n), n);
      queue.shift();
    }
    assert.deepEqual(queue.stored, { people: 1000, networks: 1000 });
    for (let n = 0; n < 100; n += 1) queue.push(String(n), n);
    while (queue.shift());
    queue.reset();
    assert.deepEqual(queue.stored, { people: 0, networks: 0 });
  });

  it('refuse the latest of the network with the most that waits, when too much waits', async () => {
    const refused: string[] = [];
    const gate = new FairGate({ slots: 1, waitMs: 60_000, waitingMax: 10, refusal: 'Too much', networkOf });
    const slot = await gate.enter('z0');
    const stop = new AbortController();
    const wait = (person: string): void =>
      void gate.enter(person, { signal: stop.signal }).catch(() => refused.push(person));
    for (let n = 0; n < 5; n += 1) wait('y0');
    for (const person of peopleOf('x', 9)) wait(person);
    await settled();
    assert.deepEqual(refused, ['x5', 'x6', 'x7', 'x8']);
    stop.abort();
    slot[Symbol.dispose]();
    await settled();
  });

  it('of one network have all slots but one together, also one person alone', async () => {
    for (const people of [peopleOf('x', 12), peopleOf('x', 1)]) {
      const gate = new FairGate({ slots: 8, waitMs: 60_000, waitingMax: 1000, refusal: 'Too much', networkOf });
      const stop = new AbortController();
      for (let n = 0; n < 12; n += 1) gate.enter(people[n % people.length]!, stop).catch(() => undefined);
      await settled();
      assert.equal(gate.running, 7);
      using _slot = await gate.enter('y0', stop);
      stop.abort();
    }
  });

  it('with long tasks leave a connection to a colleague, and more to other networks [never.one-takes-all]', async () => {
    using clock = stoppedClock();
    const options = { slots: 8, slotsOfOneMax: 4, longMs: 10, waitMs: 60_000, waitingMax: 1000, refusal: 'Too much' };
    const gate = new FairGate({ ...options, networkOf });
    const ends: (() => void)[] = [];
    const run = (person: string): void =>
      void gate.run(person, {}, () => new Promise<void>((resolve) => ends.push(resolve))).catch(() => undefined);
    for (const person of peopleOf('x', 7)) run(person);
    await settled();
    clock.advance(11);
    for (const end of ends.splice(0)) end();
    await settled();
    for (let n = 0; n < 9; n += 1) run('x0');
    await settled();
    assert.equal(gate.running, 4);
    for (const person of peopleOf('x', 9)) run(person);
    await settled();
    assert.equal(gate.running, 6);
    for (let n = 0; n < 9; n += 1) run('y0');
    await settled();
    assert.equal(gate.running, 8);
    while (gate.running > 0) {
      for (const end of ends.splice(0)) end();
      await settled();
    }
  });

  it('yield together to a network that waits and used less, and to none when they are alone [never.one-takes-all]', () => {
    using clock = stoppedClock();
    const contention = new Contention(networkOf);
    const use = (waiting: string | null): void => {
      for (let n = 0; n < 200; n += 1) {
        for (const person of peopleOf('x', 9)) contention.used(person, 1);
        if (waiting !== null) contention.waited(waiting, 30);
        clock.advance(10);
      }
    };
    use(null);
    for (const person of peopleOf('x', 9)) assert.equal(contention.mustYield(person), false);
    use('x0');
    for (const person of peopleOf('x', 9)) assert.equal(contention.mustYield(person), false, 'equals');
    use('y0');
    for (const person of peopleOf('x', 9)) assert.equal(contention.mustYield(person), true);
    assert.ok(contention.pauseMs('x0') > 0);
    assert.equal(contention.mustYield('y0'), false);
  });

  it('count what a person used in all of them, from whichever the person calls [never.one-takes-all]', () => {
    using clock = stoppedClock();
    let calls = 0;
    const contention = new Contention((person) => (person === 'me' ? `w${calls % 9}` : networkOf(person)));
    const use = (waiting: string): void => {
      for (let n = 0; n < 200; n += 1) {
        calls += 1;
        contention.used('me', 10);
        contention.used('x0', 3);
        contention.waited(waiting, 30);
        clock.advance(10);
      }
    };
    // In each of its nine networks this person used less than the other one.
    use('x0');
    assert.equal(contention.mustYield('me'), true);
    assert.ok(contention.pauseMs('me') > 0);
    clock.advance(10_000);
    calls += 1;
    use('me');
    assert.equal(contention.mustYield('x0'), false);
  });

  it('are people alone when all calls come from one address, and one share when a person calls from several', () => {
    using clock = stoppedClock();
    const networks = new CallerNetworks();
    for (const person of ['a', 'b']) networks.record(person, '10.0.0.1');
    assert.deepEqual(['a', 'b'].map(networks.of), ['a', 'b']);
    networks.record('c', '10.0.0.2');
    assert.equal(networks.of('a'), networks.of('b'));
    assert.notEqual(networks.of('a'), networks.of('c'));
    networks.record('b', '10.0.0.2');
    assert.equal(networks.of('b'), networks.of('c'));
    assert.equal(networks.of('unknown'), 'unknown');
    clock.advance(60_001);
    assert.deepEqual(['a', 'b'].map(networks.of), ['a', 'b']);
  });
});
