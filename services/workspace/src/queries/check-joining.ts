import { servicePrincipal } from '@wts/access';
import { credentialApi } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';

/** Rejects with `second_factor_required` for a person without the second factor that a workspace requires. */
export type JoiningCheck = (userId: string, workspaceId: string) => Promise<void>;

const principal = servicePrincipal('workspace');

/** Asks the auth service, which keeps what workspaces require and what people have. */
export function joiningCheck(auth: ServiceClient): JoiningCheck {
  return async (userId, workspaceId) => {
    await auth.call(credentialApi.internalCheckJoining, { principal, body: { userId, workspaceId }, idempotent: true });
  };
}
