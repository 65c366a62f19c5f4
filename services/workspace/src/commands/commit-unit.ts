import { syncApi } from '@wts/contracts';
import type { InternalCommitReply, InternalMutation, Principal } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import type { ServiceClient } from '@wts/service-kit/call';
import { randomUUID } from 'node:crypto';

/** Changes that become true together or not at all. */
export interface CommitUnit {
  readonly principal: Principal;
  /** `caller`: the sync service judges by the role of the caller. `service`: this service has decided it. */
  readonly authority: 'service' | 'caller';
  /** Names this unit for ever: sent twice, it is applied once. */
  readonly txId: string;
  readonly mutations: readonly InternalMutation[];
}

/** What a request brings along to every call it causes. */
export interface Trace {
  readonly requestId?: string;
  readonly effectId?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Ids for something new, to be tried in order. A request that is sent again because its answer got lost meets what it made
 * by the first of them; when that is from another day, for which the same Idempotency-Key stood for something else, the
 * second is free.
 */
export function newIds({ effectId }: Trace): string[] {
  return effectId === undefined ? [randomUUID()] : [effectId, randomUUID()];
}

export type CommitUnitSender = (unit: CommitUnit, trace?: Trace) => Promise<InternalCommitReply>;

const CLIENT_ID = 'workspace-service';

/**
 * The only way this service changes anything clients can see: a commit of the sync service. A call that was cut off leaves
 * open whether the unit was applied; it is made again under the same id, which applies it at most once. Keeps
 * workspaces.create.through-log.
 */
export function commitUnitSender(sync: ServiceClient): CommitUnitSender {
  return ({ principal, authority, txId, mutations }, { requestId, signal } = {}) =>
    sync.call(syncApi.internalCommit, {
      principal,
      body: { clientId: CLIENT_ID, clientTxId: txId, authority, mutations: [...mutations] },
      idempotent: true,
      ...(requestId === undefined ? {} : { requestId }),
      ...(signal === undefined ? {} : { signal }),
    });
}

/** The record a unit made or changed first of a model. */
export function recordOf<M extends Model>(reply: InternalCommitReply, { name }: M): RecordOf<M> {
  const mutation = reply.mutations.find(({ modelName }) => modelName === name);
  if (!mutation) throw new Error(`The commit gave back no ${name}`);
  return mutation.record as RecordOf<M>;
}
