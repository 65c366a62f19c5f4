import assert from 'node:assert/strict';
import { createLogger } from '@wts/service-kit/observe';
import type { AttemptError } from '../domain/attempt.ts';
import type { Outcome } from '../store/outcomes.ts';
import { Recorder, type Recording, type SettledOutcome } from './recorder.ts';

const database = (code: string, more = {}): Error =>
  Object.assign(new Error('refused'), { code, severity: 'ERROR', ...more });

describe('recording outcomes', () => {
  const settled = (deliveryId: string, error: AttemptError | null, snippet: string | null): SettledOutcome => ({
    endpointId: 'e',
    deliveryId,
    eventAt: '',
    token: '1',
    url: '',
    attemptCount: 0,
    manualAt: null,
    startedMs: 0,
    settledMs: 0,
    durationMs: 0,
    statusCode: 500,
    error,
    snippet,
    nextDelayMs: 1,
  });

  /** What is written of these outcomes, and what becomes of each, while `refusal` gives the error for one. */
  async function record(
    outcomes: readonly SettledOutcome[],
    refusal: (outcome: Outcome) => Error | undefined,
  ): Promise<{ written: Outcome[]; recordings: Record<string, Recording> }> {
    const written: Outcome[] = [];
    const recordings: Record<string, Recording> = {};
    const recorder = new Recorder({
      write: async (batch) => {
        const error = batch.map(refusal).find((one) => one !== undefined);
        if (error !== undefined) throw error;
        written.push(...batch);
        const deliveryIds = new Set(batch.map(({ deliveryId }) => deliveryId));
        return { deliveryIds, disabled: new Map(), enabledAgain: [] };
      },
      onWritten: () => undefined,
      onRoom: () => undefined,
      atOnce: 100,
      max: 100,
      gatherMs: 1,
      retryMs: 1,
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    for (const outcome of outcomes)
      recorder.add('owner', outcome, (recording) => (recordings[outcome.deliveryId] = recording));
    await recorder.finish(2_000);
    return { written, recordings };
  }

  it('takes the outcomes of owners in turn, and keeps room for those of other owners [never.one-takes-all]', async () => {
    const batches: string[][] = [];
    const freed: string[] = [];
    const recorder = new Recorder({
      write: async (batch) => {
        batches.push(batch.map(({ deliveryId }) => deliveryId));
        return { deliveryIds: new Set(), disabled: new Map(), enabledAgain: [] };
      },
      onWritten: () => undefined,
      onRoom: (ownerIds) => freed.push(...ownerIds),
      atOnce: 10,
      max: 400,
      gatherMs: 1,
      retryMs: 1,
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    let count = 0;
    for (; recorder.hasRoom('many'); count += 1) recorder.add('many', settled('many', null, null), () => undefined);
    assert.equal(count, 300);
    assert.ok(recorder.hasRoom('few'));
    recorder.add('few', settled('few', null, null), () => undefined);
    await recorder.finish(2_000);
    assert.ok(batches[0]?.includes('few') === true);
    assert.deepEqual(freed, ['many']);
    assert.ok(recorder.hasRoom('many'));
  });

  it('repeats what waited for the lock of a default partition', async () => {
    let refused = 0;
    const { written, recordings } = await record([settled('a', 'http_status', 'text')], () =>
      (refused += 1) <= 3 ? database('23514') : undefined,
    );
    assert.deepEqual(recordings, { a: 'recorded' });
    assert.deepEqual(
      written.map(({ error, snippet }) => [error, snippet]),
      [['http_status', 'text']],
    );
  });

  it('records what is refused for good without its snippet', async () => {
    const outcomes = ['a', 'b', 'c'].map((id) => settled(id, 'http_status', id === 'b' ? '\u0000' : id));
    outcomes.push(settled('d', null, '\u0000'));
    const { written, recordings } = await record(outcomes, ({ snippet }) =>
      snippet === '\u0000' ? database('22021') : undefined,
    );
    assert.deepEqual(recordings, { a: 'recorded', b: 'recorded', c: 'recorded', d: 'recorded' });
    assert.deepEqual(
      written.map(({ deliveryId, error, snippet }) => [deliveryId, error, snippet]),
      [
        ['a', 'http_status', 'a'],
        ['b', 'invalid_response', null],
        ['c', 'http_status', 'c'],
        ['d', null, null],
      ],
    );
  });

  it('leaves out what is refused again, and nothing else', async () => {
    const outcomes = ['a', 'b', 'c'].map((id) => settled(id, 'http_status', null));
    const { recordings } = await record(outcomes, ({ deliveryId }) =>
      deliveryId === 'b' ? database('23514', { constraint: 'a_rule' }) : undefined,
    );
    assert.deepEqual(recordings, { a: 'recorded', b: 'refused', c: 'recorded' });
  });
});
