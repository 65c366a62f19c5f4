import { mailApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { mailInvitation } from '../commands/mail-invitation.ts';
import type { PeopleContext } from '../people-context.ts';

/** Mails that other services ask for. */
export function mountMails(router: IRouter, context: PeopleContext): void {
  mount(router, mailApi.internalMailInvitation, async ({ body }) => ({
    ok: true,
    isMailed: await mailInvitation(context, body),
  }));
}
