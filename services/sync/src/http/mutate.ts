import type { AcceptedMutation, MutateReply, MutationResult } from '@wts/contracts';
import { formatSyncId, syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit';
import type { Router } from 'express';
import type { CommitEngine } from '../commit/engine.ts';

/**
 * POST /sync/mutate: each transaction has its own result; a refusal is a result, never a status.
 *
 * Keeps sync.mutate.body and sync.mutate.answer.
 */
export function mountMutate(router: Router, engine: CommitEngine): void {
  mount(router, syncApi.mutate, async (call): Promise<MutateReply> => {
    const { principal, body } = call;
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
    return {
      ok: true,
      success: results.every(({ success }) => success),
      lastSyncId: formatSyncId(last),
      results,
      mutations,
    };
  });
}
