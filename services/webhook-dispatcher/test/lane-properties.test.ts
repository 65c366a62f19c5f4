import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { LaneModel, type Ending } from './lane-model.ts';

type Step =
  | readonly ['enqueue', count: number, isWoken: boolean]
  | readonly ['proceed', which: number, ending: Ending]
  | readonly ['pass', ms: number]
  | readonly ['poll']
  | readonly ['stop']
  | readonly ['setServed', isServed: boolean]
  | readonly ['retry', which: number]
  | readonly ['takeOver', isSuspended: boolean];

const ending = fc.constantFrom<Ending>('success', 'success', 'failure', 'failure', 'gone', 'refused');
const step = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('enqueue'), fc.integer({ min: 1, max: 4 }), fc.boolean()) },
  { weight: 12, arbitrary: fc.tuple(fc.constant('proceed'), fc.nat(20), ending) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('pass'), fc.integer({ min: 1, max: 25 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('poll')) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('stop')) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('setServed'), fc.boolean()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('retry'), fc.nat(5)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('takeOver'), fc.boolean()) },
) as fc.Arbitrary<Step>;

function take(model: LaneModel, [event, ...details]: Step): void {
  Reflect.apply(model[event], model, details);
}

describe('a lane', () => {
  it('that is closed during a reading begins nothing of what waited for the reading, and reads nothing more', async () => {
    using model = new LaneModel();
    const proceed = async (which = 0): Promise<void> => {
      model.proceed(which, 'success');
      await turn();
    };
    await proceed();
    await proceed();
    model.enqueue(2, true);
    await proceed();
    await proceed();
    // The first attempt is under way. A reading begins, and the second attempt waits for its end.
    model.setServed(true);
    await proceed();
    model.takeOver(false);
    while (model.pending.length > 0) await proceed();
    await model.settle();
  });
});

describe('a lane, whatever happens in whatever order', () => {
  it('keeps the order, doubles no attempt, forgets nothing and begins nothing without a lease [webhooks.order.commit]', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150, size: 'max' }), async (steps) => {
        using model = new LaneModel();
        for (const one of steps) {
          take(model, one);
          await turn();
        }
        await model.settle();
      }),
      { numRuns: Number(process.env['LANE_RUNS'] ?? 75) },
    ));

  it('attempts a delivery once at a time that a reading shows as a first attempt and the next one as a retry', async () => {
    using model = new LaneModel();
    model.enqueue(1, false);
    const proceed = async (times: number): Promise<void> => {
      for (let left = times; left > 0; left -= 1) {
        model.proceed(0, 'success');
        await turn();
      }
    };
    // Its attempt by the replica before is under way when the next one reads it, and recorded before that reading is received.
    await proceed(2);
    model.takeOver(false);
    await proceed(3);
    model.retry(0);
    await proceed(4);
    await model.settle();
  });

  it('finds deliveries of a wake that was lost while it read its retries [webhooks.order.commit]', async () => {
    using model = new LaneModel();
    const proceed = async (until: () => boolean): Promise<void> => {
      while (!until()) {
        if (model.pending.length > 0) model.proceed(0, 'success');
        else model.pass(1);
        await turn();
      }
    };
    model.enqueue(1, true);
    await proceed(() => model.isSettled);
    model.retry(0);
    // The outcome of the retry makes the lane read its retries, with its settings, once more.
    await proceed(() => model.isSettled && model.rows[0]?.underWay.size === 0 && model.pending.length === 1);
    model.enqueue(1, false);
    // Before the next poll.
    await proceed(() => model.pending.length === 0);
    await model.settle();
  });
});
