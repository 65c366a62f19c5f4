import { syncApi, type InternalCommitReply, type InternalMutation, type Principal } from '@wts/contracts';
import type { ServiceClient } from './service-client.ts';

/** Changes that are committed together or not at all. */
export interface CommitUnit {
  readonly principal: Principal;
  /** `caller`: the sync service checks the role of the caller. `service`: the service that sends this has checked it. */
  readonly authority: 'service' | 'caller';
  /** Identifies this unit: sync applies a unit that is sent twice only once. */
  readonly txId: string;
  readonly mutations: readonly InternalMutation[];
}

export type CommitUnitSender = (unit: CommitUnit) => Promise<InternalCommitReply>;

/** One name for all services, so that a unit keeps its identity when another service takes over sending it. */
const CLIENT_ID = 'workspace-service';

/**
 * Changes synced models by a commit of the sync service; other services have no other way. When a call breaks off, the unit may
 * be applied or not; the caller sends it again under the same id, and sync applies it at most once. Keeps
 * workspaces.create.through-log.
 */
export function commitUnitSender(sync: ServiceClient): CommitUnitSender {
  return ({ principal, authority, txId, mutations }) =>
    sync.call(syncApi.internalCommit, {
      principal,
      body: { clientId: CLIENT_ID, clientTxId: txId, authority, mutations: [...mutations] },
      idempotent: true,
    });
}
