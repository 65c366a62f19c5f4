import { mailApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { mailInvitation } from '../commands/mail-invitation.ts';
import type { PeopleContext } from '../context.ts';
import { siteOf } from '../pages/layout.ts';
import { mountAccount } from './account/account.ts';
import { mountAuthorize } from './authorize.ts';
import { mountConnect } from './connect.ts';
import { mountForgotten } from './forgotten.ts';
import { mountJoin } from './join.ts';
import { mountLinks } from './links.ts';
import type { Pages } from './mount-page.ts';
import { mountProvider } from './provider.ts';
import { mountSecondStep } from './second-step.ts';
import { mountSignIn } from './sign-in.ts';

/** The pages of {auth_url} for people, and the mails that lead to them and that other services ask for. */
export function mountPages(router: IRouter, context: PeopleContext): void {
  const pages: Pages = { ...context, router, site: siteOf(context.issuer) };
  mountSignIn(pages);
  mountProvider(pages);
  mountAuthorize(pages);
  mountJoin(pages);
  mountForgotten(pages);
  mountLinks(pages);
  mountAccount(pages);
  mountConnect(pages);
  mountSecondStep(pages);
  mount(router, mailApi.internalMailInvitation, async ({ body }) => ({
    ok: true,
    isMailed: await mailInvitation(context, body),
  }));
}
