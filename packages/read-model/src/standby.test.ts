import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { Pool } from 'pg';
import { Standby, type StandbyOutcome } from './standby.ts';

describe('a copy of the database', () => {
  let outcomes: StandbyOutcome[];
  let said: string[];
  let standby: Standby;
  const fail = (code?: string) => () => Promise.reject(Object.assign(new Error('no answer'), { code }));

  beforeEach(() => {
    [outcomes, said] = [[], []];
    const say = (_: unknown, text?: string): void => void said.push(text ?? '');
    standby = new Standby({
      pool: new Pool(),
      logger: { warn: say, info: say },
      observe: (outcome) => outcomes.push(outcome),
      restMs: 500,
    });
  });

  it('gives what is of use, and nothing otherwise', async () => {
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.equal(await standby.read(async () => null), null);
    assert.deepEqual(outcomes, ['served', 'passed']);
  });

  it('is left alone after a failure, then tried by one at a time, and used again as soon as it answers', async () => {
    assert.equal(await standby.read(fail()), null);
    assert.equal(await standby.read(async () => 'asked too soon'), null);
    assert.deepEqual(outcomes, ['failed', 'resting']);

    const answer = Promise.withResolvers<string>();
    let isTried = false;
    let trial: Promise<string | null> | undefined;
    await eventually(() => {
      trial = standby.read(() => ((isTried = true), answer.promise));
      return isTried;
    });
    assert.equal(await standby.read(async () => 'asked beside it'), null);
    answer.resolve('it answers');
    assert.equal(await trial, 'it answers');
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.equal(said.length, 2, 'each change is told once');
  });

  it('is asked again at once when only replay was in the way of a query', async () => {
    assert.equal(await standby.read(fail('40001')), null);
    assert.equal(await standby.read(async () => 'found'), 'found');
    assert.deepEqual(said, []);
  });
});
