import type { AcceptedMutation, MutateReply, MutationResult } from '@wts/contracts';
import { Fault, formatSyncId, syncApi } from '@wts/contracts';
import { FairQuota, tooManyAnswers, type NetworkOf } from '@wts/service-kit/fairness';
import { mount } from '@wts/service-kit/routes';
import type { Response, Router } from 'express';
import type { CommitEngine } from '../commit/engine.ts';
import { textLengthOf } from '../commit/outcomes.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Length of the text in records. A smaller answer fits into the send buffer of its connection, so it is not counted. */
const SMALL_ANSWER_LENGTH_MAX = 8 * 1024;

/**
 * POST /sync/mutate: each transaction has its own result; a refusal is a result, never a status.
 *
 * Keeps sync.mutate.body and sync.mutate.answer.
 */
export function mountMutate(router: Router, engine: CommitEngine, networkOf: NetworkOf): void {
  const held = new FairQuota(SYNC_LIMITS.mutateAnswersBytesMax, { networkOf });
  mount(router, syncApi.mutate, async (call): Promise<MutateReply> => {
    const { principal, body } = call;
    if (!held.admits(principal.userId, 0)) throw tooManyAnswers();
    const units = body.transactions.map(({ clientId, clientTxId, ...mutation }) => ({
      principal,
      authority: 'caller' as const,
      clientId,
      clientTxId,
      mutations: [mutation],
    }));
    const outcomes = await engine.commit(units, { signal: call.signal });

    const results: MutationResult[] = [];
    const mutations: AcceptedMutation[] = [];
    let last = 0n;
    for (const [index, outcome] of outcomes.entries()) {
      const clientTxId = units[index]?.clientTxId ?? '';
      // The workspace moves to another cell: who sends all of it again gets the results of what is committed. Keeps cells.move.refused.
      if (!outcome.ok && outcome.code === 'unavailable') throw new Fault('unavailable', { message: outcome.error });
      if (!outcome.ok) {
        results.push({ clientTxId, success: false, error: outcome.error, code: outcome.code });
        continue;
      }
      if (outcome.lastId > last) last = outcome.lastId;
      // One change may write several entries: a client at the position of the last has all of them.
      results.push({ clientTxId, success: true, syncId: formatSyncId(outcome.lastId) });
      for (const { syncId, modelName, modelId, action, record } of outcome.mutations)
        mutations.push({ clientTxId, syncId: formatSyncId(syncId), modelName, modelId, action, record });
    }
    holdAnswer(held, principal.userId, call.res, mutations);
    return {
      ok: true,
      success: results.every(({ success }) => success),
      lastSyncId: formatSyncId(last),
      results,
      mutations,
    };
  });
}

/**
 * A small request may cause an answer of megabytes, so the answer counts against its person until the client has received it.
 * When the person holds too much, the changes are committed all the same, and a retry gets their answer. Keeps never.unbounded.
 */
function holdAnswer(held: FairQuota, person: string, res: Response, mutations: readonly AcceptedMutation[]): void {
  const length = mutations.reduce((sum, { record }) => sum + textLengthOf(record), 0);
  if (length <= SMALL_ANSWER_LENGTH_MAX) return;
  const answer = held.hold(person, length);
  if (answer === undefined) throw tooManyAnswers();
  const end = (): void => answer[Symbol.dispose]();
  if (res.closed) end();
  else {
    res.once('close', end);
    // By then the answer is written, and `writableLength` is exactly what the client has not received.
    setImmediate(() => answer.resize(res.writableLength));
  }
}
