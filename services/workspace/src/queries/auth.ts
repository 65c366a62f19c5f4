import { servicePrincipal } from '@wts/access';
import { cellApi, credentialApi, mailApi, type Invitation, type Principal } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Logger } from '@wts/service-kit/observe';

export type AskedAuth = ReturnType<typeof askAuth>;
export type CellDirectory = ReturnType<typeof cellDirectory>;

const principal = servicePrincipal('workspace');

/** What this service asks the auth service: about the people who join, for mails, and in an installation of several cells for its directory. */
export function askAuth(auth: ServiceClient, log: Pick<Logger, 'info' | 'warn'>, shard: number | undefined) {
  return {
    /** The addresses of a person that their identity providers verified. */
    addressesOf: async (userId: string): Promise<readonly string[]> => {
      const body = { userId };
      return (await auth.call(credentialApi.internalListAddresses, { principal, body, idempotent: true })).addresses;
    },
    /** Rejects with `second_factor_required` for a person without the second factor that a workspace requires. */
    checkJoining: async (userId: string, workspaceId: string): Promise<void> => {
      const body = { userId, workspaceId };
      await auth.call(credentialApi.internalCheckJoining, { principal, body, idempotent: true });
    },
    /** Sends an invitation to its address. Never rejects: the code is in the answer of the creation anyway. */
    mailInvitation: async (
      { id, code, email, role, createdBy, expiresAt }: Invitation & { readonly code: string },
      workspaceName: string,
    ): Promise<void> => {
      if (email === null) return;
      const body = { code, email, workspaceName, role, createdBy, expiresAt };
      try {
        const { isMailed } = await auth.call(mailApi.internalMailInvitation, { principal, body });
        log.info({ invitationId: id, isMailed }, isMailed ? 'an invitation is mailed' : 'an invitation is not mailed');
      } catch (err) {
        log.warn({ invitationId: id, err }, 'an invitation is not mailed; who invited has its code');
      }
    },
    /** Null in an installation of one cell. */
    cell: shard === undefined ? null : cellDirectory(auth, shard),
  };
}

function cellDirectory(auth: ServiceClient, shard: number) {
  return {
    /** Rejects with `slug_taken`. */
    claim: async (workspace: { readonly workspaceId: string; readonly urlKey: string; readonly userId: string }) => {
      await auth.call(cellApi.internalClaimWorkspace, { principal, body: { ...workspace, shard }, idempotent: true });
    },
    /** The address of this cell, and of those where a caller may have more workspaces. */
    addresses: ({ userId, workspaceId }: Principal) => {
      const body = { userId, shard, ...(workspaceId === undefined ? {} : { workspaceId }) };
      return auth.call(cellApi.internalReadCells, { principal, body, idempotent: true });
    },
  };
}
