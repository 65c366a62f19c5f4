import assert from 'node:assert/strict';
import { Fault, LIMITS } from '@wts/contracts';
import { WrongCodes } from './wrong-codes.ts';

describe('invitation codes in GraphQL', () => {
  it('are refused for a minute after too many wrong ones of a person, also when these are parallel [limits.rate.codes]', async () => {
    let now = 0;
    const codes = new WrongCodes(() => now);
    const answer = (userId: string, fault?: Fault): Promise<unknown> =>
      codes
        .attempt(userId, async () => {
          if (fault) throw fault;
          return 'joined';
        })
        .catch((failure: unknown) => (failure as Fault).code);
    for (let n = 0; n < 2 * LIMITS.wrongCodesPerMinuteMax; n += 1) {
      assert.equal(await answer('eve'), 'joined');
      for (const code of ['unavailable', 'insufficient_scope'] as const)
        assert.equal(await answer('eve', new Fault(code)), code);
    }
    const wrong = (): Promise<unknown> => answer('eve', new Fault('not_found'));
    const answers = await Promise.all(Array.from({ length: LIMITS.wrongCodesPerMinuteMax + 5 }, wrong));
    assert.equal(answers.filter((one) => one === 'not_found').length, LIMITS.wrongCodesPerMinuteMax);
    assert.equal(await answer('eve'), 'rate_limited');
    assert.equal(await answer('ada'), 'joined');
    now = 60_000;
    assert.equal(await answer('eve'), 'joined');
  });
});
