import { Fault, pageApi } from '@wts/contracts';
import { shownAppName } from '../../domain/shown-name.ts';
import * as sections from '../../pages/account/apps.ts';
import { confirmPage } from '../../pages/confirm.ts';
import { html } from '../../pages/html.ts';
import { formToken } from '../browser.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, type Account, type Section } from './view.ts';

/** A page is made without a pause, in which the service answers nothing else. */
const APPS_SHOWN_MAX = 100;

export const appsSection: Section = async ({ pages, session }) => {
  const [apps, { found: workspaces }] = await Promise.all([
    pages.oauth.grants.listOf(session.userId),
    pages.directory.workspacesOf(session.userId),
  ]);
  const leftOut = Math.max(0, apps.length - APPS_SHOWN_MAX);
  return sections.appsSection(pages.site, { apps: apps.slice(0, APPS_SHOWN_MAX), leftOut, workspaces });
};

export function mountApps({ pages, done }: Account): void {
  const { site } = pages;
  const { grants } = pages.oauth;

  mountPage(pages, pageApi.revokeAppPage, async ({ browser, params, path }) => {
    if (browser.session === null) return { to: site.url('/sign-in') };
    const app = (await grants.listOf(browser.session.userId)).find(({ id }) => id === params['grantId']);
    if (app === undefined) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    const name = shownAppName(app.clientName);
    return {
      page: confirmPage(site, {
        csrf: formToken(browser, 'session'),
        title: `Revoke ${name}?`,
        heading: html`Revoke the access of <bdi>${name}</bdi>?`,
        text: 'It can use your account no more until you allow it again.',
        action: path,
        label: 'Revoke access',
        back: '/account/apps',
      }),
    };
  });

  mountPage(pages, pageApi.revokeApp, async (call) => {
    const isRevoked = await grants.revoke(sessionOf(call).userId, call.params['grantId'] ?? '', call.visitor);
    if (!isRevoked) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    return done('apps', 'app');
  });
}
