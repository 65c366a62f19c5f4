import assert from 'node:assert/strict';
import { Fault, LIMITS } from '@wts/contracts';
import { Registry } from 'prom-client';
import { Contention, LoopTurns } from '@wts/service-kit/fairness';
import { waitMetrics } from '../metrics.ts';
import { Bodies } from './bodies.ts';
import { SYNC_LIMITS } from '../limits.ts';

const MEGABYTE = 1024 * 1024;
const never = new AbortController().signal;

describe('large bodies [never.one-takes-all]', () => {
  const open = (): Bodies => new Bodies(waitMetrics(new Registry())('body'), new LoopTurns(new Contention()));

  it('of one person take at most a quarter of the memory for bodies [never.unbounded]', () => {
    const bodies = open();
    const held = Array.from({ length: SYNC_LIMITS.bodiesBytesMax / 4 / LIMITS.mutateBodyBytes }, () =>
      bodies.hold('ada', LIMITS.mutateBodyBytes),
    );
    assert.throws(
      () => bodies.hold('ada', MEGABYTE),
      (error) => error instanceof Fault && error.code === 'unavailable' && (error.retryAfterSeconds ?? 0) > 0,
    );
    bodies.hold('bob', LIMITS.mutateBodyBytes)[Symbol.dispose]();
    held[0]?.[Symbol.dispose]();
    bodies.hold('ada', LIMITS.mutateBodyBytes);
  });

  it('are parsed one at a time, by turns of their people, and other requests are served between them', async () => {
    const bodies = open();
    const order: string[] = [];
    const parse = async (person: string): Promise<void> => {
      using _turn = await bodies.turn(person, 4 * MEGABYTE, never);
      order.push(person);
    };
    const work = Promise.all([...Array.from({ length: 20 }, () => parse('ada')), parse('bob')]);
    const between: number[] = [];
    while (order.length < 21) {
      await new Promise((resolve) => setImmediate(resolve));
      between.push(order.length);
    }
    await work;
    assert.ok(order.indexOf('bob') <= 2, String(order));
    // The event loop had a turn after each of them.
    assert.deepEqual([...new Set(between)].filter((count) => count > 0).length, 21);
  });

  it('are not parsed for a client that disconnected', async () => {
    const bodies = open();
    const first = await bodies.turn('ada', MEGABYTE, never);
    const leaving = new AbortController();
    const left = bodies.turn('bob', MEGABYTE, leaving.signal);
    leaving.abort(new Error('disconnected'));
    await assert.rejects(left, /disconnected/);
    first[Symbol.dispose]();
    (await bodies.turn('carol', MEGABYTE, never))[Symbol.dispose]();
  });
});
