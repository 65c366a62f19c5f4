import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { Pool } from 'pg';
import { Standby, type StandbyOutcome } from './standby.ts';

describe('a database replica', () => {
  let outcomes: StandbyOutcome[];
  let lines: string[];
  let standby: Standby;
  const fail = (code?: string) => () => Promise.reject(Object.assign(new Error('no reply'), { code }));

  beforeEach(() => {
    [outcomes, lines] = [[], []];
    const write = (_: unknown, text?: string): void => void lines.push(text ?? '');
    standby = new Standby({
      pool: new Pool(),
      logger: { warn: write, info: write },
      observe: (outcome) => outcomes.push(outcome),
      backoffMs: 500,
    });
  });

  it('gives the result of the work, and null for null', async () => {
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.equal(await standby.read(async () => null), null);
    assert.deepEqual(outcomes, ['served', 'passed']);
  });

  it('is not read for a while after a failure, then tried by one caller at a time, and used again as soon as it replies', async () => {
    assert.equal(await standby.read(fail()), null);
    assert.equal(await standby.read(async () => 'read too soon'), null);
    assert.deepEqual(outcomes, ['failed', 'resting']);

    const reply = Promise.withResolvers<string>();
    let isTried = false;
    let trial: Promise<string | null> | undefined;
    await eventually(() => {
      trial = standby.read(() => ((isTried = true), reply.promise));
      return isTried;
    });
    assert.equal(await standby.read(async () => 'read during the trial'), null);
    reply.resolve('it replies');
    assert.equal(await trial, 'it replies');
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.equal(lines.length, 2, 'each change is logged once');
  });

  it('is read again immediately after a query that conflicted with replay', async () => {
    assert.equal(await standby.read(fail('40001')), null);
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.deepEqual(lines, []);
  });
});
