import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Contention } from './contention.ts';
import { LoopTurns } from './loop-turns.ts';

const PIECE = 10;

describe('the turns of the event loop', () => {
  it('let a person alone continue without waiting, up to the bytes of a turn, and then in the next', async () => {
    const turns = new LoopTurns(new Contention(), 2 * PIECE);
    assert.equal(turns.take('ada', PIECE), undefined);
    assert.equal(turns.take('ada', PIECE), undefined);
    const third = turns.take('ada', PIECE);
    assert.ok(third instanceof Promise);
    await third;
    assert.equal(turns.take('ada', PIECE), undefined);
  });

  it('move no more than the bytes of a turn in one turn, however much is ready', async () => {
    const turns = new LoopTurns(new Contention(), 2 * PIECE);
    let moved = 0;
    const moving = Promise.all(
      Array.from({ length: 9 }, async () => {
        await turns.take('ada', PIECE);
        moved += 1;
      }),
    );
    const byTurn: number[] = [];
    for (let before = 0; moved < 9; before = moved) {
      await nextTurn();
      byTurn.push(moved - before);
    }
    await moving;
    assert.ok(
      byTurn.every((count) => count <= 4),
      `two of this turn and two of the next at most: ${byTurn.join(', ')}`,
    );
    assert.ok(byTurn.length >= 4, `nine pieces in turns of two: ${byTurn.join(', ')}`);
  });

  it('are given to the person who moved least: one piece of a person does not wait for a hundred of another', async () => {
    const turns = new LoopTurns(new Contention(), PIECE);
    const order: string[] = [];
    const move = async (person: string): Promise<void> => {
      await turns.take(person, PIECE);
      order.push(person);
    };
    const crowd = Array.from({ length: 100 }, () => move('mallory'));
    await nextTurn();
    const before = order.length;
    await move('ada');
    assert.ok(order.indexOf('ada') <= before + 1, `ada waited for ${order.indexOf('ada') - before} pieces`);
    await Promise.all(crowd);
  });

  it('no longer count past bytes when nothing is moved any more', async () => {
    const turns = new LoopTurns(new Contention(), PIECE);
    for (let piece = 0; piece < 5; piece += 1) await turns.take('ada', PIECE);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    assert.equal(turns.take('ada', PIECE), undefined);
  });

  it('pause a person who used much while a person who used little waits, and no other person [never.one-takes-all]', async () => {
    const contention = new Contention();
    const turns = new LoopTurns(contention);
    for (let n = 0; n < 5; n += 1) turns.spent('mallory', 25);
    contention.waited('ada', 10);
    for (let n = 0; n < 5; n += 1) turns.spent('mallory', 25);
    const order: string[] = [];
    const paused = Promise.resolve(turns.take('mallory', PIECE)).then(() => order.push('mallory'));
    await Promise.resolve(turns.take('ada', PIECE)).then(() => order.push('ada'));
    await paused;
    assert.deepEqual(order, ['ada', 'mallory']);
  });

  it('pause no person while no person waits', () => {
    const turns = new LoopTurns(new Contention());
    for (let n = 0; n < 50; n += 1) for (const person of ['ada', 'bob']) turns.spent(person, 25);
    for (const person of ['ada', 'bob']) assert.equal(turns.take(person, PIECE), undefined);
  });
});
