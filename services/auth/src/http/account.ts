import { Fault, NOT_BLANK_PATTERN, pageApi, type NewApiKey } from '@wts/contracts';
import { beginSession } from '../commands/begin-session.ts';
import { changePassword } from '../commands/change-password.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../commands/manage-api-keys.ts';
import type { PeopleContext } from '../people-context.ts';
import { sessionPrincipal } from '../domain/session-principal.ts';
import { shownAppName, shownName } from '../domain/shown-name.ts';
import { accountPage, type AccountPage } from '../pages/account.ts';
import { confirmPage } from '../pages/confirm.ts';
import { html } from '../pages/html.ts';
import type { Page } from '../pages/layout.ts';
import type { Session } from '../store/sessions.ts';
import { endedNewKeyCookie, formToken, newKeyCookie, sessionCookie } from './browser.ts';
import { readKeyChoices } from './key-choices.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import type { Parameters } from './parameters.ts';
import { passwordsClosed } from './sign-in.ts';

const NOT_BLANK = new RegExp(NOT_BLANK_PATTERN, 'u');
const LABEL_CHARACTERS_MAX = 100;
/** A page is made without a pause, in which the service answers nothing else. */
const APPS_SHOWN_MAX = 100;

/** What a person has here: apps, API keys, a password. */
export function mountAccount(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  const { oauth } = context;
  const show: Show = (call, session, shown = {}) => showAccount(pages, context, { call, session, shown });

  mountPage(pages, pageApi.accountPage, async (call) => {
    const { session, newKey } = call.browser;
    if (session === null) return { to: `${site.issuer}/sign-in` };
    const done = DONE.get(call.query.text('done'));
    const page = await show(call, session, done === undefined ? {} : { done });
    return { page, ...(newKey === null ? {} : { cookies: [endedNewKeyCookie(site)] }) };
  });
  mountPage(pages, pageApi.changePassword, async (call) => {
    if (!context.hasAccounts) return { status: 403, page: passwordsClosed(pages) };
    const { form, network, visitor, signal } = call;
    const session = sessionOf(call);
    const { accounts, attempts, passwords, record } = context;
    const change = { current: form.text('current'), password: form.text('password'), network, visitor, signal };
    const parts = { accounts, attempts, passwords, record, grants: oauth.grants };
    const changed = await changePassword(parts, session, change);
    if ('wrong' in changed) {
      return { status: 422, page: await show(call, session, { wrong: { about: 'password', text: changed.wrong } }) };
    }
    const secret = await beginSession(context, {
      userId: session.userId,
      account: changed.account,
      way: null,
      visitor,
    });
    // Null: the password was changed again meanwhile.
    if (secret === null) return { to: `${site.issuer}/sign-in` };
    return { to: `${site.issuer}/account?done=password`, cookies: [sessionCookie(site, secret)] };
  });
  mountKeys(pages, context, show);
  mountApps(pages, context);
}

type Show = (call: PageCall, session: Session, shown?: Partial<AccountPage>) => Promise<Page>;

function mountKeys(pages: Pages, context: PeopleContext, show: Show): void {
  const { site } = pages;

  mountPage(pages, pageApi.createKey, async (call): Promise<PageAnswer> => {
    const session = sessionOf(call);
    const label = call.form.text('label').trim();
    const key = readNewKey(call.form, label);
    if (typeof key === 'string') {
      return { status: 422, page: await show(call, session, { label, wrong: { about: 'keys', text: key } }) };
    }
    const { token } = await createApiKey(context.keys, sessionPrincipal(session), key, call);
    return { to: `${site.issuer}/account#keys`, cookies: [newKeyCookie(site, token)] };
  });

  mountPage(pages, pageApi.revokeKeyPage, async (call) => {
    const { session } = call.browser;
    if (session === null) return { to: `${site.issuer}/sign-in` };
    const keys = await listApiKeys(context.keys, sessionPrincipal(session), undefined);
    const key = keys.find(({ id }) => id === call.params['keyId']);
    if (key === undefined)
      throw new Fault('not_found', { message: 'You have no such API key. It is revoked already.' });
    const name = shownName(key.label);
    return {
      page: confirmPage(site, {
        csrf: formToken(call.browser, 'session'),
        title: `Revoke ${name}?`,
        heading: html`Revoke the key <bdi>${name}</bdi>?`,
        text: `Every program that uses ${key.keyPrefix}… loses access within a second. This cannot be undone.`,
        action: `/account/keys/${key.id}/revoke`,
        label: 'Revoke key',
      }),
    };
  });

  mountPage(pages, pageApi.revokeKey, async (call) => {
    const key = { keyId: call.params['keyId'] ?? '', includeMade: false };
    await revokeApiKey(context.keys, sessionPrincipal(sessionOf(call)), key, call.visitor);
    return { to: `${site.issuer}/account?done=key` };
  });
}

function mountApps(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  const { grants } = context.oauth;

  mountPage(pages, pageApi.revokeAppPage, async (call) => {
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
      }),
    };
  });

  mountPage(pages, pageApi.revokeApp, async (call) => {
    const isRevoked = await grants.revoke(sessionOf(call).userId, call.params['grantId'] ?? '', call.visitor);
    if (!isRevoked) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    return { to: `${site.issuer}/account?done=app` };
  });
}

/** A sentence about what is wrong, or the key of the form. */
function readNewKey(form: Parameters, label: string): NewApiKey | string {
  if (!NOT_BLANK.test(label) || [...label].length > LABEL_CHARACTERS_MAX) {
    return `Give the key a name of at most ${LABEL_CHARACTERS_MAX} characters.`;
  }
  const choices = readKeyChoices(form);
  return choices === null
    ? 'Choose the access, the end and the workspace of the key from the lists.'
    : { label, ...choices };
}

/** The sentence on the page after a redirect. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['password', 'Your password is changed. You are signed out everywhere else, and no app is connected.'],
  ['key', 'The API key is revoked.'],
  ['app', 'Access revoked. The app can no longer use your account.'],
]);

/** The token of the form was that of a session, so it ended just now. */
function sessionOf({ browser: { session } }: PageCall): Session {
  if (session === null) throw new Fault('forbidden', { message: 'You are signed out. Sign in and try again.' });
  return session;
}

async function showAccount(
  { site }: Pages,
  context: PeopleContext,
  {
    call,
    session,
    shown,
  }: { readonly call: PageCall; readonly session: Session; readonly shown: Partial<AccountPage> },
): Promise<Page> {
  const { accountId, userId } = session;
  const [apps, keys, workspaces, account] = await Promise.all([
    context.oauth.grants.listOf(userId),
    listApiKeys(context.keys, sessionPrincipal(session), undefined),
    context.workspaces.listOf(userId),
    accountId === null || !context.hasAccounts ? null : context.accounts.find(accountId),
  ]);
  const csrf = formToken(call.browser, 'session');
  const token = call.browser.newKey ?? '';
  const made = keys.find(({ keyPrefix }) => token.startsWith(keyPrefix));
  return accountPage(site, {
    csrf,
    workspaces,
    apiUrl: context.oauth.resources[0],
    ...(made === undefined ? {} : { newKey: { label: made.label, token } }),
    person: session,
    apps: apps.slice(0, APPS_SHOWN_MAX),
    appsLeftOut: Math.max(0, apps.length - APPS_SHOWN_MAX),
    keys,
    accountEmail: account?.email ?? null,
    ...shown,
  });
}
