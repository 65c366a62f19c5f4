import type { AcceptedMutation, MutateReply, MutationResult } from '@wts/contracts';
import { comeAgainSeconds, Fault, formatSyncId, LIMITS, syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Response, Router } from 'express';
import type { CommitEngine } from '../commit/engine.ts';
import { Holdings } from '../fairness/holdings.ts';

/** Text of records. A smaller answer leaves the process when it is written, because the buffer of its connection holds it. */
const SMALL_ANSWER_LENGTH_MAX = 8 * 1024;

/**
 * POST /sync/mutate: each transaction has its own result; a refusal is a result, never a status.
 *
 * Keeps sync.mutate.body and sync.mutate.answer.
 */
export function mountMutate(router: Router, engine: CommitEngine): void {
  const held = new Holdings(LIMITS.mutateAnswersBytesMax);
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
      if (!outcome.ok) {
        results.push({ clientTxId, success: false, error: outcome.error, code: outcome.code });
        continue;
      }
      if (outcome.lastId > last) last = outcome.lastId;
      // A change may bring others with it: who has come to the last of them has all of it.
      results.push({ clientTxId, success: true, syncId: formatSyncId(outcome.lastId) });
      for (const { syncId, modelName, modelId, action, record } of outcome.mutations) {
        mutations.push({ clientTxId, syncId: formatSyncId(syncId), modelName, modelId, action, record });
      }
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
 * A few bytes may ask for an answer of megabytes: it counts against its person until the client has taken it. Where that is
 * too much the changes stand all the same, and are answered when they are sent again. Keeps never.unbounded.
 */
function holdAnswer(held: Holdings, person: string, res: Response, mutations: readonly AcceptedMutation[]): void {
  let length = 0;
  for (const { record } of mutations) {
    for (const name in record) {
      const value = record[name];
      if (typeof value === 'string') length += value.length;
    }
  }
  if (length <= SMALL_ANSWER_LENGTH_MAX) return;
  const answer = held.hold(person, length);
  if (answer === undefined) throw tooManyAnswers();
  const end = (): void => answer[Symbol.dispose]();
  if (res.closed) end();
  else {
    res.once('close', end);
    // It is written by then: what the client has not taken is known to the byte.
    setImmediate(() => answer.become(res.writableLength));
  }
}

function tooManyAnswers(): Fault {
  return new Fault('unavailable', {
    message: 'Too many answers are waiting for you to read them; read them, or try again shortly',
    retryAfterSeconds: comeAgainSeconds(),
  });
}
