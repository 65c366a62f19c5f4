import type { IRouter } from 'express';
import type { PeopleContext } from '../people-context.ts';
import { siteOf } from '../pages/layout.ts';
import type { Sessions } from '../store/sessions.ts';
import { mountAccount } from './account/account.ts';
import { mountAuthorize } from './authorize.ts';
import { mountConnect } from './connect.ts';
import { mountForgotten } from './forgotten.ts';
import { mountJoin } from './join.ts';
import { mountLinks } from './links.ts';
import { mountMails } from './mails.ts';
import type { Pages } from './mount-page.ts';
import { mountProvider } from './provider.ts';
import { mountSecondStep } from './second-step.ts';
import { mountSignIn } from './sign-in.ts';

/** The pages of {auth_url} for people. */
export function mountPages(router: IRouter, sessions: Sessions, context: PeopleContext): void {
  const pages: Pages = { router, sessions, site: siteOf(context.oauth.issuer) };
  mountSignIn(pages, context);
  mountProvider(pages, context);
  mountAuthorize(pages, context);
  mountJoin(pages, context);
  mountMails(router, context);
  mountForgotten(pages, context);
  mountLinks(pages, context);
  mountAccount(pages, context);
  mountConnect(pages, context);
  mountSecondStep(pages, context);
}
