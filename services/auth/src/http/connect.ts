import { connectApi, Fault } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import { randomBytes } from 'node:crypto';
import {
  decideConnection,
  endConnectedKey,
  exchangeConnectCode,
  type PendingConnection,
} from '../commands/connect-tool.ts';
import { isChallenge } from '../domain/pkce.ts';
import { shownName } from '../domain/shown-name.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { codePage, connectPage } from '../pages/connect.ts';
import { messagePage } from '../pages/message.ts';
import type { AllowedKey } from '../store/connect-codes.ts';
import { pendingKey } from '../store/pending-requests.ts';
import { askAgain } from './ask-again.ts';
import { readDecision } from './authorize.ts';
import { formToken } from './browser.ts';
import { readKeyChoices } from './key-choices.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import type { Parameters } from './parameters.ts';
import { visitorOf } from './sender.ts';

/**
 * How the command line signs in. Its request waits for the browser that brought it, while the person signs in if needed and decides;
 * the answer goes to a port of 127.0.0.1 alone. Keeps authentication.connect.page, authentication.connect.loopback,
 * authentication.connect.key and authentication.connect.sign-out.
 */
export function mountConnect(pages: Pages): void {
  const { site, router, pending } = pages;
  mountPage(pages, connectApi.connect, async ({ browser, query, network }) => {
    const reading = readConnection(query);
    if (typeof reading === 'string') {
      const text = `${reading} The link may be broken or fake. Nothing was shared.`;
      return { status: 400, page: messagePage({ title: 'This link is not valid', text }) };
    }
    const request = randomBytes(32).toString('base64url');
    await pending.insert(pendingKey('connect', request, browser.id), reading, { network });
    if (browser.session === null) return { to: site.url('/sign-in', { connect: request }) };
    return { to: site.url('/account/connect/decision', { request }) };
  });
  mountPage(pages, connectApi.decisionPage, async ({ browser, query }) => {
    const request = query.text('request');
    const waiting = await findConnection(pages, request, browser.id);
    if (waiting === null) throw outdated();
    if (browser.session === null) return { to: site.url('/sign-in', { connect: request }) };
    const { toolName, callback, access } = waiting;
    const { found: workspaces } = await pages.directory.workspacesOf(browser.session.userId);
    const csrf = formToken(browser, 'session');
    const port = callback?.port ?? null;
    const shown = { csrf, request, toolName, port, access, workspaces, person: browser.session };
    return { page: connectPage(site, shown) };
  });
  mountPage(pages, connectApi.decision, (call) => decide(pages, call));
  mount(router, connectApi.exchangeCode, async (call) => {
    const { body, res } = call;
    const key = await exchangeConnectCode(pages, { ...body, visitor: visitorOf(call) });
    res.setHeader('cache-control', 'no-store');
    return { ok: true, key, apiUrl: pages.oauth.resources.of(0).api };
  });
  mount(router, connectApi.endKey, async (call) => {
    await endConnectedKey(pages, call.body.token, visitorOf(call));
    return { ok: true };
  });
}

const PORT = /^[1-9]\d{3,4}$/;
const PORT_MIN = 1024;
const PORT_MAX = 65_535;
const STATE = /^[\w-]{1,128}$/;

/** What a tool asks for, or what is wrong with it. */
function readConnection(query: Parameters): PendingConnection | string {
  if (query.repeated.length > 0) return 'A part of it is given more than once.';
  const toolName = shownName(query.text('name'), AUTH_LIMITS.clientNameMax);
  if (toolName === '') return 'The program has no name.';
  const challenge = query.text('challenge');
  if (!isChallenge(challenge)) return 'The program sent no valid challenge.';
  const common = { toolName, challenge, access: query.get('access') ?? null };
  const [port, state] = [query.get('port'), query.get('state')];
  if (port === undefined) return { ...common, callback: null };
  if (!PORT.test(port) || Number(port) < PORT_MIN || Number(port) > PORT_MAX) return 'The port is not allowed.';
  if (state === undefined || !STATE.test(state)) return 'The program sent no valid state.';
  return { ...common, callback: { port: Number(port), state } };
}

async function decide(pages: Pages, call: PageCall): Promise<PageAnswer> {
  const { browserId, form, visitor } = call;
  const decision = await readDecision(pages, call, 'connect', outdated);
  if (!('session' in decision)) return decision;
  const { session, request, isAllowed } = decision;
  const allowed = isAllowed ? await readAllowed(pages, session.userId, form) : null;
  if (allowed !== null) {
    const port = (await findConnection(pages, request, browserId))?.callback?.port;
    const leadsTo = port === undefined ? [] : [`http://127.0.0.1:${port}`];
    const asked = await askAgain(pages, { call, session }, 'give a program access', leadsTo);
    if (asked !== null) return asked;
  }
  const key = pendingKey('connect', request, browserId);
  const connected = await decideConnection(pages, { session, key, allowed, visitor });
  if (connected === null) throw outdated();
  if ('to' in connected) return connected;
  const { code, toolName } = connected;
  if (code !== null) return { page: codePage({ toolName, code }) };
  return { page: messagePage({ title: 'Nothing was shared', text: 'You can close this page.' }) };
}

async function readAllowed({ directory }: Pages, userId: string, form: Parameters): Promise<Omit<AllowedKey, 'label'>> {
  const choices = readKeyChoices(form);
  const { permissions, workspaceId = null, expiresAt } = choices ?? {};
  const isOwn = workspaceId === null || (await directory.roleIn(userId, workspaceId)) !== null;
  if (permissions === undefined || !isOwn)
    throw new Fault('validation_failed', { message: 'Choose the access, the end and the workspace from the lists.' });
  return { permissions, workspaceId, keyExpiresAt: expiresAt === undefined ? null : new Date(expiresAt) };
}

/** Null for no request of this browser. */
export function findConnection(
  { pending }: Pages,
  request: string,
  browserId: string,
): Promise<PendingConnection | null> {
  return pending.find(pendingKey('connect', request, browserId));
}

function outdated(): Fault {
  const message = 'This request has ended, or began in another browser. Start again in your terminal.';
  return new Fault('malformed_request', { message });
}
