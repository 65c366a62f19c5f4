import { servicePrincipal } from '@wts/access';
import { cellApi, type Principal, type ReplyOf } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';

type Addresses = Pick<ReplyOf<typeof cellApi.internalReadCells>, 'baseUrl' | 'elsewhere'>;

/** What this cell asks the directory of an installation of several cells, which the auth service keeps. */
export interface CellDirectory {
  /** Rejects with `slug_taken`. */
  claim(workspace: { readonly workspaceId: string; readonly urlKey: string; readonly userId: string }): Promise<void>;
  /** The address of this cell, and of those where a caller may have more workspaces. */
  addresses(caller: Principal): Promise<Addresses>;
}

export function cellOf(auth: ServiceClient, shard: number): CellDirectory {
  const principal = servicePrincipal('workspace');
  return {
    claim: async (workspace) => {
      await auth.call(cellApi.internalClaimWorkspace, { principal, body: { ...workspace, shard }, idempotent: true });
    },
    addresses: ({ userId, workspaceId }) =>
      auth.call(cellApi.internalReadCells, {
        principal,
        body: { userId, shard, ...(workspaceId === undefined ? {} : { workspaceId }) },
        idempotent: true,
      }),
  };
}
