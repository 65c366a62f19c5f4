import { ERRORS, Fault, pageApi, type ErrorCode } from '@wts/contracts';
import { joinAs, readInvitation, registerAndJoin, type Joined } from '../commands/join-by-invitation.ts';
import { proofOf, proveByInvitation, type Presented } from '../commands/mail-invitation.ts';
import { askForAccount } from '../commands/register-by-mail.ts';
import { confirmSentPage, enterCodePage, joinedPage, memberPage, newPersonPage, signedInPage } from '../pages/join.ts';
import type { Site } from '../pages/layout.ts';
import { formToken, sessionCookie } from './browser.ts';
import {
  accountsClosed,
  mountPage,
  mountPageWith,
  pageWith,
  type PageAnswer,
  type PageCall,
  type Pages,
} from './mount-page.ts';

/** People join a workspace with the code of an invitation: with a new account, or as the person who is signed in. */
export function mountJoin(pages: Pages): void {
  const { site } = pages;
  mountPage(pages, pageApi.joinPage, async (call) => {
    const code = call.query.get('code');
    if (code === undefined) return { page: enterCodePage(site) };
    try {
      const invitation = await readInvitation(pages, call.browser.session, code);
      return await showJoin(pages, call, { code, proof: call.query.get('proof'), invitation });
    } catch (failure) {
      if (!(failure instanceof Fault) || !CODE_FAULTS.has(failure.code)) throw failure;
      return { status: failure.status, page: enterCodePage(site, failure.publicMessage ?? ERRORS[failure.code].when) };
    }
  });
  // The token of the page: before the registration there is no session.
  mountPageWith(pages, pageApi.join, { token: 'either' }, async (call) => {
    const code = call.form.text('code');
    const { session } = call.browser;
    const invitation = await readInvitation(pages, session, code);
    const presented = { code, invitation, proof: call.form.get('proof') };
    if (session === null) return register(pages, call, presented);
    await proveByInvitation(pages, session, { ...presented, visitor: call.visitor });
    return afterJoining(site, code, await joinAs(pages, session, presented));
  });
}

/** Of a code that is wrong or used up: the person may have another one. */
const CODE_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not_found', 'invitation_expired']);

async function showJoin(
  { site, hasAccounts, roles, directory }: Pages,
  { browser, form }: PageCall,
  { code, proof, invitation }: Presented,
  wrong?: string,
): Promise<PageAnswer> {
  const { workspaceId, workspaceName, email: address, role, createdBy } = invitation;
  const { session } = browser;
  const roleNow = session === null ? null : await roles.of(session.userId, workspaceId);
  if (roleNow !== null) return { page: memberPage(site, { workspaceName, role: roleNow }) };
  const csrf = formToken(browser, session === null ? 'browser' : 'session');
  const inviter = (await directory.person(createdBy))?.name ?? null;
  const shown = { csrf, code, proof, workspaceName, address, role, inviter, wrong };
  const page =
    session === null
      ? newPersonPage(site, { ...shown, hasAccounts, name: form.text('name'), email: form.text('email') })
      : signedInPage(site, { ...shown, person: session });
  return pageWith(page, wrong);
}

async function register(pages: Pages, call: PageCall, presented: Presented): Promise<PageAnswer> {
  const { site, hasAccounts, mailer } = pages;
  const { form } = call;
  if (!hasAccounts) return accountsClosed(site);
  const email = presented.invitation.email ?? form.text('email');
  const person = { ...call, name: form.text('name'), email, password: form.text('password') };
  const link = await proofOf(pages, presented);
  if (mailer.isOn && link === null) {
    const asked = await askForAccount(pages, person, presented);
    if ('wrong' in asked) return showJoin(pages, call, presented, asked.wrong);
    return { page: confirmSentPage(asked.sentTo) };
  }
  const joined = await registerAndJoin(pages, person, { ...presented, link });
  if ('wrong' in joined) return showJoin(pages, call, presented, joined.wrong);
  return { ...afterJoining(site, presented.code, joined.joined), cookies: [sessionCookie(site, joined.secret)] };
}

/** Over the page that adds a second factor, when the workspace requires one that the person lacks. */
export function afterJoining(site: Site, code: string, joined: Joined | null): PageAnswer {
  if (joined !== null) return { page: joinedPage(site, joined) };
  return { to: site.url('/account/second-factor', { invitation: code }) };
}
