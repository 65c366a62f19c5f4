import { requireScope } from '@wts/access';
import { Fault, formatSyncId, syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { CommitEngine } from '../commit/engine.ts';

/** Keeps authentication.internal.authority. */
const MAY_DECIDE: readonly string[] = syncApi.internalCommit.internal?.authority ?? [];

/** POST /internal/commit: other services commit a unit of changes, all or none. The reply to a refusal is its error. */
export function mountInternal(router: Router, engine: CommitEngine): void {
  mount(router, syncApi.internalCommit, async (call) => {
    const { principal, caller, body } = call;
    // With authority "caller", a service may do no more than its caller's credential.
    if (body.authority === 'caller') requireScope(principal, 'write');
    else if (!MAY_DECIDE.includes(caller))
      throw new Fault('forbidden', { message: `The service ${caller} may not use authority "service".` });
    const [outcome] = await engine.commit([{ principal, ...body }], { signal: call.signal });
    if (!outcome) throw new Error('The engine answers every unit');
    if (!outcome.ok) throw new Fault(outcome.code, { message: outcome.error });
    return {
      ok: true as const,
      lastSyncId: formatSyncId(outcome.lastId),
      mutations: outcome.mutations.map(({ syncId, modelName, record }) => ({
        syncId: formatSyncId(syncId),
        modelName,
        record,
      })),
    };
  });
}
