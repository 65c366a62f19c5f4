import { Fault, type Principal, type Revocation } from '@wts/contracts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { OpenAnswers } from './open-answers.ts';

const [HERE, ELSEWHERE] = ['workspace', 'other workspace'];
const person = { userId: 'ann', scopes: ['read'], credential: { kind: 'api_key', id: 'key' } } as const;
const limited: Principal = { ...person, workspaceId: HERE };

/** Whether an answer to the caller, which waits, ends by the revocation. */
async function isEnded(principal: Principal, revocation: Revocation): Promise<boolean> {
  const openAnswers = new OpenAnswers();
  const finishing = new AbortController();
  type Call = Parameters<OpenAnswers['run']>[0];
  const res = { headersSent: false, destroy: () => undefined } as unknown as Call['res'];
  const call = { principal, res, signal: finishing.signal };
  const running = openAnswers.run(call, async (signal) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  });
  openAnswers.revoke(revocation);
  finishing.abort(new Error('nothing ended it'));
  const failure: unknown = await running.catch((error: unknown) => error);
  return failure instanceof Fault && failure.code === 'api_key_invalid';
}

describe('an answer that is being sent', () => {
  it('ends with the membership that its credential is limited to, and with no other [sync.bootstrap.credential-dies]', async () => {
    const membership = { kind: 'membership', userId: 'ann', workspaceId: HERE } as const;
    for (const [principal, revocation, expected] of [
      [limited, membership, true],
      [limited, { kind: 'membership', workspaceId: HERE }, true],
      [limited, { ...membership, userId: 'bob' }, false],
      [limited, { ...membership, workspaceId: ELSEWHERE }, false],
      [limited, { kind: 'membership', userId: 'ann' }, false],
      [person, membership, false],
    ] as const)
      assert.equal(await isEnded(principal, revocation), expected, JSON.stringify([principal, revocation]));
  });

  it('ends with its own credential alone, or with all of its person [sync.bootstrap.credential-dies]', async () => {
    for (const [revocation, expected] of [
      [{ kind: 'credential', credentialId: 'key', userId: 'ann' }, true],
      [{ kind: 'credential', userId: 'ann' }, true],
      [{ kind: 'credential', credentialId: 'another', userId: 'ann' }, false],
      [{ kind: 'credential', userId: 'ann', credentialKind: 'oauth' }, false],
    ] as const)
      assert.equal(await isEnded(person, revocation), expected, JSON.stringify(revocation));
  });
});
