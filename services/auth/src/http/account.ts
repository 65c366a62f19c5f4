import { Fault, NOT_BLANK_PATTERN, pageApi } from '@wts/contracts';
import { beginSession } from '../commands/begin-session.ts';
import { changePassword } from '../commands/change-password.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../commands/manage-api-keys.ts';
import type { PeopleContext } from '../people-context.ts';
import { accountPage, type AccountPage } from '../pages/account.ts';
import type { Page } from '../pages/layout.ts';
import type { Session } from '../store/sessions.ts';
import { formToken, sessionCookie } from './browser.ts';
import { mountPage, principalOf, type PageCall, type Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

const NOT_BLANK = new RegExp(NOT_BLANK_PATTERN, 'u');
const LABEL_CHARACTERS_MAX = 100;
/** A page is made without a pause, in which the service answers nothing else. */
const APPS_SHOWN_MAX = 100;

/** What a person has here: apps, API keys, a password. */
export function mountAccount(pages: Pages, context: PeopleContext): void {
  const { site, sessions } = pages;
  const { oauth } = context;
  const show = (call: PageCall, session: Session, shown: Partial<AccountPage> = {}): Promise<Page> =>
    showAccount(pages, context, { call, session, shown });

  mountPage(pages, pageApi.accountPage, async (call) => {
    const { session } = call.browser;
    if (session === null) return { to: `${site.issuer}/sign-in` };
    const done = DONE.get(call.query.text('done'));
    return { page: await show(call, session, done === undefined ? {} : { done }) };
  });
  mountPage(pages, pageApi.changePassword, async (call) => {
    if (!context.hasAccounts) return { status: 403, page: passwordsClosed(pages) };
    const { form, network, signal } = call;
    const session = sessionOf(call);
    const { accounts, attempts, passwords } = context;
    const change = { current: form.text('current'), password: form.text('password'), network, signal };
    const parts = { accounts, attempts, passwords, sessions, grants: oauth.grants };
    const changed = await changePassword(parts, session, change);
    if ('wrong' in changed) {
      return { status: 422, page: await show(call, session, { wrong: { about: 'password', text: changed.wrong } }) };
    }
    const secret = await beginSession(sessions, { userId: session.userId, account: changed.account });
    // Null: the password was changed again meanwhile.
    if (secret === null) return { to: `${site.issuer}/sign-in` };
    return { to: `${site.issuer}/account?done=password`, cookies: [sessionCookie(site, secret)] };
  });
  mountPage(pages, pageApi.createKey, async (call) => {
    const session = sessionOf(call);
    const label = call.form.text('label').trim();
    if (!NOT_BLANK.test(label) || [...label].length > LABEL_CHARACTERS_MAX) {
      const text = `Give the key a name of at most ${LABEL_CHARACTERS_MAX} characters.`;
      return { status: 422, page: await show(call, session, { wrong: { about: 'keys', text } }) };
    }
    const made = await createApiKey(context.keys, principalOf(session), { label, permissions: 'full-access' }, {});
    return { page: await show(call, session, { newKey: made }) };
  });
  mountPage(pages, pageApi.revokeKey, async (call) => {
    await revokeApiKey(context.keys, principalOf(sessionOf(call)), call.params['keyId'] ?? '', false);
    return { to: `${site.issuer}/account?done=key` };
  });
  mountPage(pages, pageApi.revokeApp, async (call) => {
    const isRevoked = await oauth.grants.revoke(sessionOf(call).userId, call.params['grantId'] ?? '');
    if (!isRevoked) throw new Fault('not_found', { message: 'This app is not connected any more.' });
    return { to: `${site.issuer}/account?done=app` };
  });
}

/** The sentence on the page after a redirect. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['password', 'Your password is changed. You are signed out everywhere else, and no app is connected.'],
  ['key', 'The API key is revoked.'],
  ['app', 'The app has no access any more.'],
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
  const [apps, keys, account] = await Promise.all([
    context.oauth.grants.listOf(userId),
    listApiKeys(context.keys, principalOf(session), undefined),
    accountId === null || !context.hasAccounts ? null : context.accounts.find(accountId),
  ]);
  const csrf = formToken(call.browser, 'session');
  return accountPage(site, {
    csrf,
    person: session,
    apps: apps.slice(0, APPS_SHOWN_MAX),
    appsLeftOut: Math.max(0, apps.length - APPS_SHOWN_MAX),
    keys,
    accountEmail: account?.email ?? null,
    ...shown,
  });
}
