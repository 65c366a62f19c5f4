import assert from 'node:assert/strict';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

const PEOPLE = ['a', 'b', 'c', 'd', 'e'];

describe('the fair queue', () => {
  const drain = (queue: FairQueue<number>): QueueEntry<number>[] => {
    const served: QueueEntry<number>[] = [];
    for (let entry = queue.shift(); entry; entry = queue.shift()) served.push(entry);
    return served;
  };

  it('serves people in turn, and each of them in order', () => {
    const queue = new FairQueue<number>();
    for (let n = 0; n < 3; n += 1) queue.push('a', n);
    for (let n = 0; n < 2; n += 1) queue.push('b', n);
    queue.push('c', 0);
    assert.deepEqual(
      drain(queue).map(({ person, item }) => `${person}${item}`),
      ['a0', 'b0', 'c0', 'a1', 'b1', 'a2'],
    );
  });

  it('gives entries of cost 100 no larger share than entries of cost 1', () => {
    const queue = new FairQueue<number>();
    for (let n = 0; n < 10; n += 1) queue.push('large', n, { cost: 100 });
    for (let n = 0; n < 500; n += 1) queue.push('small', n);
    const first = drain(queue).slice(0, 404);
    const of = (name: string): number =>
      first.filter(({ person }) => person === name).reduce((sum, { cost }) => sum + cost, 0);
    assert.ok(Math.abs(of('large') - of('small')) <= 100, `${of('large')} and ${of('small')}`);
  });

  it('serves a new person before the backlog of others, and counts what the person took while others wait', () => {
    const queue = new FairQueue<number>();
    for (let n = 0; n < 100; n += 1) queue.push('busy', n);
    for (let n = 0; n < 50; n += 1) queue.shift();
    queue.push('new', 0);
    assert.deepEqual([queue.shift(), queue.shift()].map((entry) => entry?.person).includes('new'), true);
    queue.charge('new', 10);
    queue.push('new', 1);
    const next = Array.from({ length: 9 }, () => queue.shift()?.person);
    assert.deepEqual(new Set(next), new Set(['busy']));
  });

  it('finds the last entry of the person with the most, and of equals of the one who is served last', () => {
    const queue = new FairQueue<number>();
    for (const person of PEOPLE) queue.push(person, 0);
    assert.equal(queue.lastOfHeaviest(({ size }) => size)?.person, 'e');
    queue.push('b', 1);
    assert.deepEqual(queue.lastOfHeaviest(({ size }) => size)?.item, 1);
  });

  it('serves only people for whom mayServe is true, and the others keep their turns', () => {
    const queue = new FairQueue<number>();
    for (const person of PEOPLE) queue.push(person, 0);
    assert.equal(queue.shift((person) => person > 'b')?.person, 'c');
    assert.equal(
      queue.shift(() => false),
      undefined,
    );
    assert.deepEqual(
      drain(queue).map(({ person }) => person),
      ['a', 'b', 'd', 'e'],
    );
  });

  it('stores the people who wait and at most a thousand others [never.unbounded]', () => {
    const queue = new FairQueue<number>();
    for (let n = 0; n < 5000; n += 1) {
      queue.push(`person ${n}`, n);
      queue.shift();
    }
    assert.equal(queue.stored.people, 1000);
    for (let n = 0; n < 2000; n += 1) queue.push(`person ${n}`, n);
    assert.ok(queue.stored.people <= 3000);
    drain(queue);
    queue.reset();
    assert.deepEqual(queue.stored, { people: 0, networks: 0 });
  });

  it('computes the cost ahead of a new entry: of each other person as much as this one gets', () => {
    const queue = new FairQueue<number>();
    for (let n = 0; n < 1000; n += 1) queue.push('busy', n, { cost: 10 });
    queue.push('small', 0);
    assert.ok(queue.ahead('new', 1) <= 11);
    assert.ok(queue.ahead('new', 100) <= 111);
    assert.equal(queue.ahead('busy', 1), 10_001);
    assert.equal(queue.lastOfHeaviest(({ cost }) => cost)?.item, 999);
  });
});
