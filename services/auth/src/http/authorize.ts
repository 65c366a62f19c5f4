import { authorizeApi, Fault, isUuid } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import { decideConsent, type Allowed, type PendingAuthorization } from '../commands/decide-consent.ts';
import { signOut } from '../commands/end-sessions.ts';
import { shownAppName } from '../domain/shown-name.ts';
import { readAuthorizationRequest, redirectTo } from '../oauth/authorization-request.ts';
import { consentPage, GRANT_ACCESS, GRANT_DAYS } from '../pages/consent.ts';
import { messagePage } from '../pages/message.ts';
import { pendingKey } from '../store/pending-requests.ts';
import type { Session } from '../store/sessions.ts';
import { endedSessionCookie, formToken } from './browser.ts';
import { mountPage, mountPageWith, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import type { Parameters } from './parameters.ts';

/**
 * The authorization endpoint (RFC 6749 section 3.1). A valid request is stored for the browser that brought it, the person signs in if
 * needed, and then decides on the consent page. Nothing skips the decision, because a client without a secret cannot prove who it
 * is (RFC 8252 section 8.6). Keeps authentication.oauth.authorize, authentication.consent.always and
 * authentication.consent.redirect.
 */
export function mountAuthorize(pages: Pages): void {
  const { site, pending } = pages;
  mountPage(pages, authorizeApi.authorize, async (call) => {
    const reading = await readRequest(pages, call, call.query);
    if ('answer' in reading) return reading.answer;
    const request = randomBytes(32).toString('base64url');
    const from = { network: call.network, clientId: reading.request.clientId };
    await pending.insert(pendingKey('authorization', request, call.browserId), reading.request, from);
    return { to: site.url(call.browser.session === null ? '/sign-in' : '/consent', { request }) };
  });
  // A form of another site comes without cookies (SameSite), so it is repeated as a GET, which has them.
  mountPageWith(pages, authorizeApi.authorizeForm, { token: 'none' }, async (call) => {
    const reading = await readRequest(pages, call, call.form);
    if ('answer' in reading) return reading.answer;
    return { to: site.url('/authorize', Object.fromEntries(call.form.values)) };
  });
  mountPage(pages, authorizeApi.consentPage, async ({ browser, query }) => {
    const request = query.text('request');
    const waiting = await findAuthorization(pages, request, browser.id);
    if (waiting === null) throw outdated();
    if (browser.session === null) return { to: site.url('/sign-in', { request }) };
    const { clientName, redirectUri, scopes } = waiting;
    const csrf = formToken(browser, 'session');
    const { found: workspaces } = await pages.directory.workspacesOf(browser.session.userId);
    const shown = { csrf, request, clientName: shownAppName(clientName), redirectUri, scopes, workspaces };
    return { page: consentPage(site, { ...shown, person: browser.session }) };
  });
  mountPage(pages, authorizeApi.consent, (call) => decide(pages, call));
}

/** A request that is refused has its answer: a page, or a redirect to the client. */
async function readRequest(
  { oauth, issuer }: Pages,
  call: PageCall,
  parameters: Parameters,
): Promise<{ readonly request: PendingAuthorization } | { readonly answer: PageAnswer }> {
  const client = await oauth.findClient(parameters.text('client_id'), call);
  const reading = readAuthorizationRequest(parameters, client, { resources: oauth.resources });
  if ('ok' in reading) return { request: { ...reading.ok, clientName: client?.name ?? null } };
  if ('page' in reading) {
    const page = messagePage({ title: 'This link is not valid', text: reading.page });
    return { answer: { status: 400, page } };
  }
  const { redirectUri, state, error, description } = reading.redirect;
  const refusal = { error, error_description: description, state, iss: issuer };
  return { answer: { to: redirectTo(redirectUri, refusal) } };
}

interface Decision {
  readonly session: Session;
  readonly request: string;
  readonly isAllowed: boolean;
}

/** What the form of a pending request decides. `as` names the request in the page of the sign-in. With `switch` the person signs out, and another one signs in for the request. */
export async function readDecision(
  pages: Pages,
  { browser: { session }, form, visitor }: PageCall,
  as: 'request' | 'connect',
  outdated: () => Fault,
): Promise<Decision | PageAnswer> {
  const request = form.text('request');
  const decision = form.text('decision');
  if (session === null) throw outdated();
  if (decision === 'switch') {
    await signOut(pages, session, visitor);
    return { to: pages.site.url('/sign-in', { [as]: request }), cookies: [endedSessionCookie(pages.site)] };
  }
  if (decision !== 'allow' && decision !== 'deny')
    throw new Fault('validation_failed', { message: 'The decision is missing.' });
  return { session, request, isAllowed: decision === 'allow' };
}

async function decide(pages: Pages, call: PageCall): Promise<PageAnswer> {
  const { browserId, form, visitor } = call;
  const decision = await readDecision(pages, call, 'request', outdated);
  if (!('session' in decision)) return decision;
  const { session, request, isAllowed } = decision;
  const allowed = isAllowed ? await readAllowed(pages, session.userId, form) : null;
  const key = pendingKey('authorization', request, browserId);
  const to = await decideConsent(pages, { session, key, allowed, visitor });
  if (to === null) throw outdated();
  return { to };
}

const DAY_MS = 24 * 60 * 60_000;

/** What is left out is the first of its list: what the client asked for, for as long as a grant may last, in all workspaces. */
async function readAllowed({ directory }: Pages, userId: string, form: Parameters): Promise<Allowed> {
  const [[asked]] = GRANT_ACCESS;
  const access = form.get('access') ?? asked;
  const [[longest]] = GRANT_DAYS;
  const days = form.get('expires') ?? longest;
  const workspaceId = form.get('workspace') ?? null;
  const isOwn = workspaceId === null || (isUuid(workspaceId) && (await directory.roleIn(userId, workspaceId)) !== null);
  if (!isOwn || !GRANT_DAYS.some(([value]) => value === days) || !GRANT_ACCESS.some(([value]) => value === access))
    throw new Fault('validation_failed', { message: 'Choose the access, the end and the workspace from the lists.' });
  return { isReadOnly: access === 'read', workspaceId, endsAt: new Date(Date.now() + Number(days) * DAY_MS) };
}

/** Null for no request of this browser. */
export function findAuthorization(
  { pending }: Pages,
  request: string,
  browserId: string,
): Promise<PendingAuthorization | null> {
  return pending.find(pendingKey('authorization', request, browserId));
}

function outdated(): Fault {
  const message = 'This request has ended, or began in another browser. Go back to the app and start again.';
  return new Fault('malformed_request', { message });
}
