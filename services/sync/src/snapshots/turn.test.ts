import assert from 'node:assert/strict';
import { FairGate } from '../fairness/fair-gate.ts';
import { Turn } from './turn.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn that several people wait for', () => {
  const gate = (): FairGate => new FairGate({ slots: 1, waitMs: 60_000, waitingMax: 100, refusal: 'Too much' });

  it('comes when the first of them would have had it, so a long backlog of one does not hold up the others', async () => {
    const hall = gate();
    const first = await hall.enter('busy');
    const order: string[] = [];
    const backlog = Array.from({ length: 10 }, async (_, index) => {
      using _slot = await hall.enter('busy');
      order.push(`busy ${index}`);
    });
    const turn = new Turn(hall);
    turn.join('busy');
    turn.join('bob');
    const shared = turn.slot.then((slot) => (order.push('shared'), slot[Symbol.dispose]()));
    first[Symbol.dispose]();
    await Promise.all([...backlog, shared]);
    assert.equal(order.length, 11);
    assert.ok(order.indexOf('shared') <= 1, String(order));
    assert.deepEqual([hall.running, hall.waiting], [0, 0]);
  });

  it('goes on for those who stay, and is given up with the last of them', async () => {
    const hall = gate();
    const held = await hall.enter('busy');
    const turn = new Turn(hall);
    turn.join('ada');
    turn.join('bob');
    turn.leave('ada');
    await settled();
    assert.equal(hall.waiting, 1);
    turn.leave('bob');
    await assert.rejects(turn.slot, /Left/);
    assert.equal(hall.waiting, 0);
    held[Symbol.dispose]();
    turn.join('carol');
    assert.equal(hall.running, 0);
  });
});
