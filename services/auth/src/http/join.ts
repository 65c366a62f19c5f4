import { ERRORS, Fault, memberApi, pageApi, type ErrorCode, type ReplyOf } from '@wts/contracts';
import { beginSession } from '../commands/begin-session.ts';
import { registerAccount } from '../commands/register-account.ts';
import { placesOf } from '../commands/sign-in-by-password.ts';
import { sha256 } from '../domain/sha256.ts';
import type { PeopleContext } from '../people-context.ts';
import { enterCodePage, joinedPage, memberPage, newPersonPage, signedInPage } from '../pages/join.ts';
import type { Session } from '../store/sessions.ts';
import { formToken, sessionCookie } from './browser.ts';
import { mountPage, principalOf, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

type Invitation = ReplyOf<typeof memberApi.internalReadInvitation>['invitation'];

/** People join a workspace with the code of an invitation: with a new account, or as the person who is signed in. */
export function mountJoin(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  mountPage(pages, pageApi.joinPage, async (call) => {
    const code = call.query.get('code');
    if (code === undefined) return { page: enterCodePage(site) };
    try {
      return await showJoin(pages, context, call, { code, invitation: await read(context, call, code) });
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
      const invitation = await read(context, call, code);
      const { session } = call.browser;
      if (session === null) return register(pages, context, call, { code, invitation });
      return accept(pages, context, call, { code, invitation, session });
    },
    // The token of the page: before the registration there is no session.
    { token: 'either' },
  );
}

/** Of a code that is wrong or used up: the person may have another one. */
const CODE_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not_found', 'invitation_expired']);

interface Presented {
  readonly code: string;
  readonly invitation: Invitation;
}

async function read(
  { workspace, self }: PeopleContext,
  { requestId, signal }: PageCall,
  code: string,
): Promise<Invitation> {
  const body = { code: code.slice(0, 200) };
  const call = { principal: self, body, requestId, signal, idempotent: true };
  return (await workspace.call(memberApi.internalReadInvitation, call)).invitation;
}

async function showJoin(
  { site }: Pages,
  { hasAccounts, keys, workspaces }: PeopleContext,
  { browser, form }: PageCall,
  {
    code,
    invitation: { workspaceId, workspaceName, email, role, createdBy },
    wrong,
  }: Presented & { readonly wrong?: string },
): Promise<PageAnswer> {
  const { session } = browser;
  const roleNow = session === null ? null : await keys.roles.of(session.userId, workspaceId);
  if (roleNow !== null) return { page: memberPage(site, { workspaceName, role: roleNow }) };
  const csrf = formToken(browser, session === null ? 'browser' : 'session');
  const inviter = await workspaces.nameOfPerson(createdBy);
  const shown = { csrf, code, workspaceName, address: email, role, inviter, ...(wrong === undefined ? {} : { wrong }) };
  const page =
    session === null
      ? newPersonPage(site, { ...shown, hasAccounts, name: form.text('name'), email: form.text('email') })
      : signedInPage(site, { ...shown, person: session });
  return { page, ...(wrong === undefined ? {} : { status: 422 }) };
}

/** After a failure between the steps the person signs in with the account and accepts again: each step happens once. */
async function register(
  pages: Pages,
  context: PeopleContext,
  call: PageCall,
  presented: Presented,
): Promise<PageAnswer> {
  const { hasAccounts, accounts, passwords, attempts } = context;
  const { form, browser, network, requestId, signal } = call;
  if (!hasAccounts) return { status: 403, page: passwordsClosed(pages) };
  const bound = presented.invitation.email;
  const registered = await registerAccount(
    { accounts, passwords },
    {
      name: form.text('name'),
      email: bound ?? form.text('email'),
      password: form.text('password'),
      network,
      signal,
    },
  );
  if (typeof registered === 'string') return showJoin(pages, context, call, { ...presented, wrong: registered });
  const userId = await context.personOf(registered, { requestId, signal });
  await attempts.addPlaces(registered.id, placesOf({ browserId: browser.id, network }));
  const secret = await beginSession(pages.sessions, { userId, account: registered });
  const session = secret === null ? null : await pages.sessions.find(sha256(secret));
  if (secret === null || session === null) throw new Fault('unavailable');
  const joined = await joinAs(context, call, { ...presented, session });
  return { page: joinedPage(pages.site, joined), cookies: [sessionCookie(pages.site, secret)] };
}

async function accept(
  pages: Pages,
  context: PeopleContext,
  call: PageCall,
  presented: Presented & { readonly session: Session },
): Promise<PageAnswer> {
  return { page: joinedPage(pages.site, await joinAs(context, call, presented)) };
}

/** The inviter knows the code too, so it proves the address of the person for this invitation only. */
async function joinAs(
  { workspace, accounts }: PeopleContext,
  { requestId, signal }: PageCall,
  { code, session, invitation }: Presented & { readonly session: Session },
): Promise<{ workspaceName: string; role: string }> {
  const account = session.accountId === null ? null : await accounts.find(session.accountId);
  const { role } = await workspace.call(memberApi.internalJoinWorkspace, {
    principal: principalOf(session),
    body: { code, address: account?.email ?? null },
    requestId,
    signal,
    idempotent: true,
  });
  return { workspaceName: invitation.workspaceName, role };
}
