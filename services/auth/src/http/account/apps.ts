import { Fault, pageApi } from '@wts/contracts';
import { shownAppName } from '../../domain/shown-name.ts';
import * as pages from '../../pages/account/apps.ts';
import { confirmPage } from '../../pages/confirm.ts';
import { html } from '../../pages/html.ts';
import { formToken } from '../browser.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, type Account, type Section } from './view.ts';

/** A page is made without a pause, in which the service answers nothing else. */
const APPS_SHOWN_MAX = 100;

export const appsSection: Section = async ({ site, context, session }) => {
  const [apps, { found: workspaces }] = await Promise.all([
    context.oauth.grants.listOf(session.userId),
    context.directory.workspacesOf(session.userId),
  ]);
  const leftOut = Math.max(0, apps.length - APPS_SHOWN_MAX);
  return pages.appsSection(site, { apps: apps.slice(0, APPS_SHOWN_MAX), leftOut, workspaces });
};

export function mountApps({ pages: mounted, context, done }: Account): void {
  const { site } = mounted;
  const { grants } = context.oauth;

  mountPage(mounted, pageApi.revokeAppPage, async (call) => {
    const { session } = call.browser;
    if (session === null) return { to: `${site.issuer}/sign-in` };
    const app = (await grants.listOf(session.userId)).find(({ id }) => id === call.params['grantId']);
    if (app === undefined) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    const name = shownAppName(app.clientName);
    return {
      page: confirmPage(site, {
        csrf: formToken(call.browser, 'session'),
        title: `Revoke ${name}?`,
        heading: html`Revoke the access of <bdi>${name}</bdi>?`,
        text: 'It can use your account no more until you allow it again.',
        action: `/account/apps/${app.id}/revoke`,
        label: 'Revoke access',
        back: '/account/apps',
      }),
    };
  });

  mountPage(mounted, pageApi.revokeApp, async (call) => {
    const isRevoked = await grants.revoke(sessionOf(call).userId, call.params['grantId'] ?? '', call.visitor);
    if (!isRevoked) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    return done('apps', 'app');
  });
}
