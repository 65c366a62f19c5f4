import assert from 'node:assert/strict';
import { LIMITS, type Principal } from '@wts/contracts';
import { Comment, Task } from '@wts/models';
import { eventually } from '@wts/testkit';
import { refuse } from './refusal.ts';
import { CommitRequest } from './request.ts';
import type { Unit } from './unit.ts';
import { Waiting } from './waiting.ts';

const rootId = '00000000-0000-4000-8000-000000000001';

describe('changes that wait to be committed', () => {
  const at = performance.now();
  const unit = (userId: string, text = ''): Unit => {
    const principal: Principal = { userId, scopes: ['write'], credential: { kind: 'jwt', id: userId } };
    const mutation = { modelName: 'Task', modelId: rootId, action: 'UPDATE', payload: { title: text } } as const;
    return { principal, authority: 'caller', clientId: 'c', clientTxId: 't', mutations: [mutation] };
  };
  const request = (units: readonly Unit[]): CommitRequest => {
    const made = new CommitRequest(units, { signal: undefined, deadlineMs: at + 600_000 });
    made.answer.catch(() => undefined);
    return made;
  };
  const next = (waiting: Waiting): CommitRequest | undefined =>
    waiting.take(() => true, () => undefined)?.parts[0]?.request; // prettier-ignore

  it('a step of a sweep waits behind nothing else of its person, because the sweeps of others wait for it [never.one-takes-all]', () => {
    const waiting = new Waiting();
    for (let n = 0; n < 10; n += 1) waiting.admit(request([unit('busy')]));
    const sweep = { kind: 'delete', model: Task, rootId, workspaceId: null, userId: null } as const;
    const relation = { model: Comment, field: 'taskId', many: false, value: rootId, becomes: 'delete' };
    const step = { sweep: { ...sweep, actorId: 'busy' }, relation, ids: [rootId] } as const;
    const swept = request([{ ...unit('busy'), mutations: [], step: step as Unit['step'] & object }]);
    waiting.admit(swept);
    assert.equal(next(waiting), swept);
  });

  it('too many of them make room at the expense of who sent most, however small those are [never.unbounded]', () => {
    const waiting = new Waiting();
    const honest = request(Array.from({ length: 100 }, () => unit('honest', 'x'.repeat(50_000))));
    waiting.admit(honest);
    const small = Array.from({ length: 100 }, () => unit('busy'));
    for (let n = 0; n < LIMITS.commitQueueMutationsMax / 100; n += 1) waiting.admit(request(small));
    assert.equal(honest.isSettled, false);
    assert.ok(waiting.units <= LIMITS.commitQueueMutationsMax);
  });

  it('of a person who filled a batch wait as long as it took while others come, and theirs do not [never.one-takes-all]', async () => {
    const waiting = new Waiting();
    const [busy, later] = [request([unit('busy')]), request([unit('busy')])];
    waiting.admit(request([unit('honest')]));
    next(waiting);
    waiting.admit(busy);
    const batch = waiting.take(
      () => true,
      () => assert.fail(),
    );
    assert.equal(batch?.parts[0]?.request, busy);
    waiting.learn(batch, [{ kind: 'refused', refusal: refuse('conflict', ''), weight: 1 }], 10);
    waiting.admit(later);
    assert.equal(next(waiting), undefined);
    assert.ok((waiting.restMs ?? Infinity) <= 10);
    const honest = request([unit('honest')]);
    waiting.admit(honest);
    assert.equal(next(waiting), honest);
    await eventually(() => next(waiting) === later);
  });

  it('of a person who is alone never do', () => {
    const waiting = new Waiting();
    for (let n = 0; n < 3; n += 1) {
      waiting.admit(request([unit('busy')]));
      const batch = waiting.take(
        () => true,
        () => assert.fail(),
      );
      assert.ok(batch);
      waiting.learn(batch, [{ kind: 'refused', refusal: refuse('conflict', ''), weight: 1 }], 10);
    }
  });

  it('thousands that are overdue are dropped at once', () => {
    const waiting = new Waiting();
    for (let n = 0; n < 19_000; n += 1) waiting.admit(request([unit(`${n % 100}`)]));
    waiting.which(() => true).forEach((one) => Object.assign(one, { deadlineMs: 0 }));
    assert.equal(next(waiting), undefined);
    assert.equal(waiting.units, 0);
  });
});
