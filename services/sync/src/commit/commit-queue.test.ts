import assert from 'node:assert/strict';
import type { Principal } from '@wts/contracts';
import { Comment, Task } from '@wts/models';
import { Contention } from '@wts/service-kit/fairness';
import { eventually, stoppedClock } from '@wts/testkit';
import type { Refusal } from '../decision/refusal.ts';
import { CommitRequest } from './request.ts';
import type { Unit } from '../decision/unit.ts';
import { CommitQueue } from './commit-queue.ts';
import { SYNC_LIMITS } from '../limits.ts';

const rootId = '00000000-0000-4000-8000-000000000001';

describe('the commit queue', () => {
  const at = performance.now();
  const unit = (userId: string, text = ''): Unit => {
    const principal: Principal = { userId, scopes: ['write'], credential: { kind: 'jwt', id: userId } };
    const mutation = { modelName: 'Task', modelId: rootId, action: 'UPDATE', payload: { title: text } } as const;
    return { principal, authority: 'caller', clientId: 'c', clientTxId: 't', mutations: [mutation] };
  };
  const request = (units: readonly Unit[]): CommitRequest => {
    const made = new CommitRequest(units, { signal: undefined, deadlineMs: at + 600_000 });
    made.outcomes.catch(() => undefined);
    return made;
  };
  const next = (queue: CommitQueue): CommitRequest | undefined =>
    queue.take(() => true, () => undefined)?.parts[0]?.request; // prettier-ignore

  it('takes a step of a sweep before all requests of its person, because the sweeps of others wait for it [never.one-takes-all]', () => {
    const queue = new CommitQueue(new Contention());
    for (let n = 0; n < 10; n += 1) queue.admit(request([unit('busy')]));
    const sweep = { kind: 'delete', model: Task, rootId, workspaceId: null, userId: null } as const;
    const relation = { model: Comment, field: 'taskId', many: false, value: rootId, becomes: 'delete' };
    const step = { sweep: { ...sweep, actorId: 'busy' }, relation, ids: [rootId] } as const;
    const swept = request([{ ...unit('busy'), mutations: [], step: step as Unit['step'] & object }]);
    queue.admit(swept);
    assert.equal(next(queue), swept);
  });

  it('rejects requests of the person who sent most when it is full, however small those are [never.unbounded]', () => {
    const queue = new CommitQueue(new Contention());
    const honest = request(Array.from({ length: 100 }, () => unit('honest', 'x'.repeat(50_000))));
    queue.admit(honest);
    const small = Array.from({ length: 100 }, () => unit('busy'));
    for (let n = 0; n < SYNC_LIMITS.commitQueueMutationsMax / 100; n += 1) queue.admit(request(small));
    assert.equal(honest.isSettled, false);
    assert.ok(queue.units <= SYNC_LIMITS.commitQueueMutationsMax);
  });

  it('pauses a person with many batches while a person with few waits, and only then [never.one-takes-all]', async () => {
    const contention = new Contention();
    const queue = new CommitQueue(contention);
    const commitOne = (): boolean => {
      queue.admit(request([unit('busy')]));
      const batch = queue.take(
        () => true,
        () => assert.fail(),
      );
      const refusal: Refusal = { ok: false, code: 'conflict', error: '' };
      if (batch) queue.recordCost(batch, [{ kind: 'refused', refusal, weight: 1 }], 25);
      return batch !== undefined;
    };
    {
      // A pause of this process would count as a wait.
      using _clock = stoppedClock();
      // Alone, and next to a person who does not wait.
      for (let n = 0; n < 20; n += 1) assert.ok(commitOne());
      contention.waited('honest', 20);
      for (let n = 0; n < 20; n += 1) if (!commitOne()) break;
      assert.equal(next(queue), undefined);
    }
    assert.ok((queue.pauseMs ?? Infinity) <= 1000);
    const honest = request([unit('honest')]);
    queue.admit(honest);
    assert.equal(next(queue), honest);
    await eventually(() => next(queue)?.person === 'busy');
  });

  it('drops thousands of overdue requests in one call', () => {
    const queue = new CommitQueue(new Contention());
    for (let n = 0; n < 19_000; n += 1) queue.admit(request([unit(`${n % 100}`)]));
    queue.filter(() => true).forEach((one) => Object.assign(one, { deadlineMs: 0 }));
    assert.equal(next(queue), undefined);
    assert.equal(queue.units, 0);
  });
});
