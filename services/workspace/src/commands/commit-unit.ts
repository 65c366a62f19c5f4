import { syncApi } from '@wts/contracts';
import type { InternalCommitReply, InternalMutation, Principal } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import type { ServiceClient } from '@wts/service-kit/call';
import type { EffectSource } from '@wts/service-kit/routes';

/** Changes that are committed together or not at all. */
export interface CommitUnit {
  readonly principal: Principal;
  /** `caller`: the sync service checks the role of the caller. `service`: this service has checked it. */
  readonly authority: 'service' | 'caller';
  /** Identifies this unit: sync applies a unit that is sent twice only once. */
  readonly txId: string;
  readonly mutations: readonly InternalMutation[];
}

/** What a request passes to every call it causes. */
export interface Trace extends EffectSource {
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

export type CommitUnitSender = (unit: CommitUnit, trace?: Trace) => Promise<InternalCommitReply>;

const CLIENT_ID = 'workspace-service';

/**
 * Changes synced models by a commit of the sync service; this service has no other way. When a call breaks off, the unit may
 * be applied or not; the caller sends it again under the same id, and sync applies it at most once. Keeps
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

/** The first record of a model that the unit created or changed. */
export function recordOf<M extends Model>(reply: InternalCommitReply, { name }: M): RecordOf<M> {
  const mutation = reply.mutations.find(({ modelName }) => modelName === name);
  if (!mutation) throw new Error(`The commit gave back no ${name}`);
  return mutation.record as RecordOf<M>;
}
