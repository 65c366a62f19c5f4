import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { setTimeout as sleep } from 'node:timers/promises';
import { DISPATCH } from '../limits.ts';
import { Slots, type Pace, type Slot } from './slots.ts';

/** Any number begins at once, except where a test says otherwise. */
const AT_ONCE = { ...DISPATCH, startsAtOnce: 10_000 };
const LIMITS = { ...AT_ONCE, quickSlots: 4, slowSlots: 2, unknownSlots: 2, slotsMax: 12, quickMs: 30 };

const LIMITS_OF_ORIGIN = { ...AT_ONCE, quickMs: 30 };

let next = 0;
const asked = (pace: Pace, origin = `https://host-${(next += 1)}`, ownerId = `owner-${(next += 1)}`) => ({
  pace,
  origin,
  ownerId,
});

/** What became of a request by the end of the turn. */
async function taken(slot: Promise<Slot>): Promise<Slot | null> {
  return Promise.race([slot, sleep(2).then(() => null)]);
}

describe('the slots for attempts', () => {
  it('of slow endpoints are their own: however many hang, a quick one begins at once [webhooks.fairness.neighbors]', async () => {
    const slots = new Slots(LIMITS);
    const hanging = Array.from({ length: 50 }, () => slots.take(asked('slow')));
    const unknown = Array.from({ length: 50 }, () => slots.take(asked('unknown')));
    for (let at = 0; at < 4; at += 1) assert.ok((await taken(slots.take(asked('quick')))) !== null);
    assert.equal((await Promise.all(hanging.map(taken))).filter((one) => one !== null).length, 2);
    assert.equal((await Promise.all(unknown.map(taken))).filter((one) => one !== null).length, 2);
  });

  it('are given back by an attempt that turns out to be slow [webhooks.fairness.neighbors]', async () => {
    const slots = new Slots(LIMITS);
    for (let at = 0; at < 4; at += 1) (await slots.take(asked('quick'))).begin();
    assert.equal(await taken(slots.take(asked('quick'))), null);
    await slots.take(asked('quick'));
    await eventually(() => slots.taken.slow === 4);
    assert.deepEqual(slots.taken, { quick: 2, slow: 4, unknown: 0 });
  });

  it('of endpoints that are not quick are given a few at a time, because each needs a new connection [webhooks.fairness.neighbors]', async () => {
    const slots = new Slots({ ...DISPATCH, startsAtOnce: 2 });
    const begun: number[] = [];
    const others = Array.from({ length: 8 }, async (_, at) => {
      await slots.take(asked(at % 2 === 0 ? 'slow' : 'unknown'));
      begun.push(performance.now());
    });
    assert.ok((await taken(slots.take(asked('quick')))) !== null);
    assert.equal(begun.length, 2);
    await Promise.all(others);
    assert.ok(begun[7]! - begun[0]! >= 3 * (DISPATCH.startMs - 1));
  });

  it('are bounded in all, also when every attempt turns out to be slow', async () => {
    const slots = new Slots(LIMITS);
    const held: Slot[] = [];
    const all = Array.from({ length: 40 }, async () => {
      const slot = await slots.take(asked('quick'));
      slot.begin();
      held.push(slot);
    });
    await sleep(300);
    assert.equal(held.length, LIMITS.slotsMax);
    while (held.length > 0) {
      held.shift()?.free();
      await sleep(0);
    }
    await Promise.all(all);
    for (const slot of held) slot.free();
    await sleep(40);
    assert.deepEqual(slots.taken, { quick: 0, slow: 0, unknown: 0 });
  });

  it('of each kind stay free for other owners when the endpoints of one hang [webhooks.fairness.neighbors, never.one-takes-all]', async () => {
    const slots = new Slots({ ...LIMITS, quickSlots: 16, slowSlots: 16, unknownSlots: 16, slotsMax: 64 });
    const of = (ownerId: string, pace: Pace, origin?: string) => slots.take(asked(pace, origin, ownerId));
    const origin = 'https://shared.example';
    for (let at = 0; at < 50; at += 1) for (const pace of ['quick', 'slow', 'unknown'] as const) void of('a', pace);
    for (let at = 0; at < 50; at += 1) for (const pace of ['quick', 'unknown'] as const) void of('b', pace, origin);
    for (const pace of ['quick', 'slow', 'unknown'] as const) assert.ok((await taken(of('c', pace))) !== null, pace);
    const all = new Slots({ ...AT_ONCE, quickMs: 20 });
    for (let at = 0; at < 3_000; at += 1) void all.take(asked('quick', undefined, 'a')).then((slot) => slot.begin());
    await eventually(() => all.taken.slow === (DISPATCH.slotsMax / 4) * 3);
    for (const pace of ['quick', 'slow', 'unknown'] as const)
      assert.ok((await taken(all.take(asked(pace, undefined, 'b')))) !== null, `${pace} beside all`);
  });

  it('of one origin stay free for a quick endpoint of another owner, also when endpoints that are not known hang [webhooks.fairness.neighbors]', async () => {
    const slots = new Slots(LIMITS_OF_ORIGIN);
    const origin = 'https://shared.example';
    const hanging = Array.from({ length: 100 }, async () => (await slots.take(asked('unknown', origin, 'a'))).begin());
    assert.ok((await taken(slots.take(asked('quick', origin, 'b')))) !== null);
    assert.ok((await taken(slots.take(asked('unknown', origin, 'b')))) !== null);
    // A hundred attempts that hang give their slots of the origin back one after the other.
    await Promise.all(hanging);
    assert.equal(slots.taken.slow + slots.taken.unknown, 101);
  });

  it('go to owners in turn, however many attempts of one wait [never.one-takes-all]', async () => {
    const slots = new Slots({ ...LIMITS, quickMs: 60_000 });
    const begun: string[] = [];
    const held: Slot[] = [];
    const ask = async (ownerId: string): Promise<void> => {
      const slot = await slots.take(asked('quick', undefined, ownerId));
      begun.push(ownerId);
      held.push(slot);
    };
    for (let at = 0; at < 40; at += 1) void ask('a');
    for (let at = 0; at < 4; at += 1) void ask('b');
    await sleep(0);
    while (begun.length < 14) {
      held.shift()?.free();
      await sleep(0);
    }
    assert.equal(begun.filter((ownerId) => ownerId === 'b').length, 4, begun.join(' '));
  });

  it('of one origin are sixteen, of slow ones four, and nothing is kept of it afterwards', async () => {
    const slots = new Slots({ ...DISPATCH, quickMs: 60_000 });
    const one = 'https://hooks.example';
    const slow = await Promise.all(Array.from({ length: 10 }, () => taken(slots.take(asked('slow', one)))));
    assert.equal(slow.filter((slot) => slot !== null).length, 4);
    const quick = Array.from({ length: 1_000 }, () => slots.take(asked('quick', one)));
    const first = await Promise.all(quick.slice(0, 20).map(taken));
    assert.equal(first.filter((slot) => slot !== null).length, 12);
    assert.ok((await taken(slots.take(asked('quick')))) !== null, 'others are not held up');
    for (const slot of slow) slot?.free();
    for (const slot of quick) (await slot).free();
  });

  it('keep no entry of an origin that nothing is sent to', async () => {
    const slots = new Slots(LIMITS);
    for (let at = 0; at < 1_000; at += 1) (await slots.take(asked('quick'))).free();
    assert.equal(slots.keys, 0);
  });

  it('are given out in the order in which they were asked for', async () => {
    const slots = new Slots(LIMITS);
    const order: number[] = [];
    const all = Array.from({ length: 30 }, async (_, at) => {
      const slot = await slots.take(asked('quick'));
      order.push(at);
      await sleep(1);
      slot.free();
    });
    await Promise.all(all);
    assert.deepEqual(
      order,
      order.toSorted((one, other) => one - other),
    );
  });
});
