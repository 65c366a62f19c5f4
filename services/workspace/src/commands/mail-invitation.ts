import { servicePrincipal } from '@wts/access';
import { mailApi } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Logger } from '@wts/service-kit/observe';
import type { InvitationMailer } from '../context.ts';

const principal = servicePrincipal('workspace');

export function invitationMailer(auth: ServiceClient, log: Pick<Logger, 'info' | 'warn'>): InvitationMailer {
  return async ({ id, code, email, role, createdBy, expiresAt }, workspaceName) => {
    if (email === null) return;
    try {
      const { isMailed } = await auth.call(mailApi.internalMailInvitation, {
        principal,
        body: { code, email, workspaceName, role, createdBy, expiresAt },
      });
      log.info({ invitationId: id, isMailed }, isMailed ? 'an invitation is mailed' : 'an invitation is not mailed');
    } catch (err) {
      log.warn({ invitationId: id, err }, 'an invitation is not mailed; who invited has its code');
    }
  };
}
