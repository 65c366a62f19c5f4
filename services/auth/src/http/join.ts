import { ERRORS, Fault, pageApi, type ErrorCode } from '@wts/contracts';
import { joinAs, readInvitation, registerAndJoin, type Joined } from '../commands/join-by-invitation.ts';
import type { Presented } from '../commands/mail-invitation.ts';
import type { PeopleContext } from '../people-context.ts';
import { proofOf, proveByInvitation } from '../commands/mail-invitation.ts';
import { askForAccount } from '../commands/register-by-mail.ts';
import { confirmSentPage, enterCodePage, joinedPage, memberPage, newPersonPage, signedInPage } from '../pages/join.ts';
import type { Site } from '../pages/layout.ts';
import { formToken, sessionCookie } from './browser.ts';
import { guestOf } from './guest.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

/** People join a workspace with the code of an invitation: with a new account, or as the person who is signed in. */
export function mountJoin(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  mountPage(pages, pageApi.joinPage, async (call) => {
    const code = call.query.get('code');
    if (code === undefined) return { page: enterCodePage(site) };
    try {
      return await showJoin(site, context, call, {
        code,
        proof: call.query.get('proof'),
        invitation: await readInvitation(context, call.browser.session, code),
      });
    } catch (failure) {
      if (!(failure instanceof Fault) || !CODE_FAULTS.has(failure.code)) throw failure;
      return { status: failure.status, page: enterCodePage(site, failure.publicMessage ?? ERRORS[failure.code].when) };
    }
  });
  mountPage(
    pages,
    pageApi.join,
    async (call) => {
      const code = call.form.text('code');
      const invitation = await readInvitation(context, call.browser.session, code);
      const presented = { code, invitation, proof: call.form.get('proof') };
      const { session } = call.browser;
      if (session === null) return register(pages, context, call, presented);
      await proveByInvitation(context, session, { ...presented, visitor: call.visitor });
      return afterJoining(site, code, await joinAs(context, session, presented));
    },
    // The token of the page: before the registration there is no session.
    { token: 'either' },
  );
}

/** Of a code that is wrong or used up: the person may have another one. */
const CODE_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not_found', 'invitation_expired']);

async function showJoin(
  site: Site,
  { hasAccounts, keys, directory }: PeopleContext,
  { browser, form }: PageCall,
  {
    code,
    proof,
    invitation: { workspaceId, workspaceName, email, role, createdBy },
    wrong,
  }: Presented & { readonly wrong?: string },
): Promise<PageAnswer> {
  const { session } = browser;
  const roleNow = session === null ? null : await keys.roles.of(session.userId, workspaceId);
  if (roleNow !== null) return { page: memberPage(site, { workspaceName, role: roleNow }) };
  const csrf = formToken(browser, session === null ? 'browser' : 'session');
  const inviter = (await directory.person(createdBy))?.name ?? null;
  const shown = {
    csrf,
    code,
    proof,
    workspaceName,
    address: email,
    role,
    inviter,
    ...(wrong === undefined ? {} : { wrong }),
  };
  const page =
    session === null
      ? newPersonPage(site, { ...shown, hasAccounts, name: form.text('name'), email: form.text('email') })
      : signedInPage(site, { ...shown, person: session });
  return { page, ...(wrong === undefined ? {} : { status: 422 }) };
}

async function register(
  { site, sessions }: Pages,
  context: PeopleContext,
  call: PageCall,
  presented: Presented,
): Promise<PageAnswer> {
  const { form } = call;
  if (!context.hasAccounts) return { status: 403, page: passwordsClosed({ site }) };
  const entered = { name: form.text('name'), email: form.text('email'), password: form.text('password') };
  const person = { ...entered, ...guestOf(call) };
  const link = await proofOf(context, presented);
  if (context.mailer.isOn && link === null) {
    const asked = await askForAccount(
      context,
      { ...person, email: presented.invitation.email ?? person.email },
      presented,
    );
    if ('wrong' in asked) return showJoin(site, context, call, { ...presented, wrong: asked.wrong });
    return { page: confirmSentPage(asked.sentTo) };
  }
  const joined = await registerAndJoin({ ...context, sessions }, person, { ...presented, link });
  if ('wrong' in joined) return showJoin(site, context, call, { ...presented, wrong: joined.wrong });
  return { ...afterJoining(site, presented.code, joined.joined), cookies: [sessionCookie(site, joined.secret)] };
}

/** Over the page that adds a second factor, when the workspace requires one that the person lacks. */
export function afterJoining(site: Site, code: string, joined: Joined | null): PageAnswer {
  if (joined !== null) return { page: joinedPage(site, joined) };
  return { to: `${site.issuer}/account/second-factor?${new URLSearchParams({ invitation: code }).toString()}` };
}
