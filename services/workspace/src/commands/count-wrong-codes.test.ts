import { servicePrincipal } from '@wts/access';
import { Fault, type Principal } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { countWrongCodes } from './count-wrong-codes.ts';

describe('the count of wrong codes', () => {
  const person: Principal = { userId: randomUUID(), scopes: [], credential: { kind: 'jwt', id: 'session' } };
  const context = {
    wrongCodesPerMinuteMax: 30,
    wrongCodes: {
      begin: async () => ({ window: '2026-11-25 00:00:00+00' }),
      takeBack: () => Promise.reject(new Error('PostgreSQL is away')),
    },
  };

  it('changes no result when an attempt that was not wrong cannot be taken back', async () => {
    assert.equal(await countWrongCodes(context, person, async () => 'joined'), 'joined');
    const failure = new Fault('unavailable');
    await assert.rejects(
      countWrongCodes(context, person, () => Promise.reject(failure)),
      failure,
    );
  });

  it('leaves out a service that asks for a visitor without a session', async () => {
    const begin = (): never => assert.fail('counted');
    const wrongCodes = { ...context.wrongCodes, begin };
    const service = servicePrincipal('auth');
    assert.equal(await countWrongCodes({ ...context, wrongCodes }, service, async () => 'read'), 'read');
  });
});
