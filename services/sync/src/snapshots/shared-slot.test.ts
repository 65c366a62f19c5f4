import assert from 'node:assert/strict';
import { FairGate } from '../fairness/fair-gate.ts';
import { SharedSlot } from './shared-slot.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn that several people wait for', () => {
  const gate = (): FairGate => new FairGate({ slots: 1, waitMs: 60_000, waitingMax: 100, refusal: 'Too much' });

  it('comes when the first of them would have had it, so a long backlog of one does not hold up the others', async () => {
    const gate_ = gate();
    const first = await gate_.enter('busy');
    const order: string[] = [];
    const backlog = Array.from({ length: 10 }, async (_, index) => {
      using _slot = await gate_.enter('busy');
      order.push(`busy ${index}`);
    });
    const turn = new SharedSlot(gate_);
    turn.join('busy');
    turn.join('bob');
    const shared = turn.slot.then((slot) => (order.push('shared'), slot[Symbol.dispose]()));
    first[Symbol.dispose]();
    await Promise.all([...backlog, shared]);
    assert.equal(order.length, 11);
    assert.ok(order.indexOf('shared') <= 1, String(order));
    assert.deepEqual([gate_.running, gate_.waiting], [0, 0]);
  });

  it('goes on for those who stay, and is given up with the last of them', async () => {
    const gate_ = gate();
    const held = await gate_.enter('busy');
    const turn = new SharedSlot(gate_);
    turn.join('ada');
    turn.join('bob');
    turn.leave('ada');
    await settled();
    assert.equal(gate_.waiting, 1);
    turn.leave('bob');
    await assert.rejects(turn.slot, /Left/);
    assert.equal(gate_.waiting, 0);
    held[Symbol.dispose]();
    turn.join('carol');
    assert.equal(gate_.running, 0);
  });
});
