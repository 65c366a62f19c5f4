import assert from 'node:assert/strict';
import { FairGate } from '@wts/service-kit/fairness';
import { SharedSlot } from './shared-slot.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a slot that several people wait for', () => {
  const gate = (): FairGate => new FairGate({ slots: 1, waitMs: 60_000, waitingMax: 100, refusal: 'Too much' });

  it('is granted at the first turn of any of them, so the backlog of one does not delay the others', async () => {
    const fairGate = gate();
    const first = await fairGate.enter('busy');
    const order: string[] = [];
    const backlog = Array.from({ length: 10 }, async (_, index) => {
      using _slot = await fairGate.enter('busy');
      order.push(`busy ${index}`);
    });
    const turn = new SharedSlot(fairGate);
    turn.join('busy');
    turn.join('bob');
    const shared = turn.slot.then((slot) => (order.push('shared'), slot[Symbol.dispose]()));
    first[Symbol.dispose]();
    await Promise.all([...backlog, shared]);
    assert.equal(order.length, 11);
    assert.ok(order.indexOf('shared') <= 1, String(order));
    assert.deepEqual([fairGate.running, fairGate.waiting], [0, 0]);
  });

  it('is waited for while one of them is left, and no longer', async () => {
    const fairGate = gate();
    const held = await fairGate.enter('busy');
    const turn = new SharedSlot(fairGate);
    turn.join('ada');
    turn.join('bob');
    turn.leave('ada');
    await settled();
    assert.equal(fairGate.waiting, 1);
    turn.leave('bob');
    await assert.rejects(turn.slot, /Left/);
    assert.equal(fairGate.waiting, 0);
    held[Symbol.dispose]();
    turn.join('carol');
    assert.equal(fairGate.running, 0);
  });
});
