import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MintToken } from '@wts/access';
import { Fault, HEADERS } from '@wts/contracts';
import type { CallerNetworks } from '@wts/service-kit/fairness';
import { ClientClosedError, type ReserveBytes } from '@wts/service-kit/http';
import { inSpan, startEntrySpan } from '@wts/service-kit/observe';
import type { AddressReader } from '../client-address.ts';
import type { UpstreamName } from '../routes.ts';
import type { Upstream } from '../upstream.ts';
import { allowOrigin, answerOptions, refuseReboundHost, type AllowedOrigins } from './allow-origin.ts';
import { answerFault, startAnswer } from './answer.ts';
import { authenticate, type Authentication } from './authenticate.ts';
import { boundBody } from './bound-body.ts';
import { RequestContext } from './request-context.ts';
import { forward } from './forward.ts';
import { upgradeRequired } from './handshake.ts';
import type { RateLimiter } from './limit-rate.ts';
import { isRead, matchMethod, matchPath, wantsPage } from './match-route.ts';
import type { NetworkConnections } from './network-connections.ts';
import { negotiateVersion } from './negotiate-version.ts';
import { refuseAmbiguity } from './refuse-ambiguity.ts';
import type { RouteTable } from './route-table.ts';
import type { Shares } from './shares.ts';

/** Answers an operation that the gateway serves itself. */
export type OwnAnswer = (context: RequestContext, res: ServerResponse) => void | Promise<void>;

export interface EdgePages {
  /** At an unknown path. */
  readonly unknown: OwnAnswer;
  /** A page or a form that is refused until later. */
  readonly busy: (context: RequestContext, res: ServerResponse, fault: Fault) => void;
}

/** What the steps use; one set per origin. */
export interface EdgeParts extends Authentication {
  readonly routes: RouteTable;
  readonly upstreams: Readonly<Record<UpstreamName, Upstream>>;
  /** Makes the internal token for a service, which names the person on whose behalf the gateway calls. */
  readonly mintToken: Readonly<Record<UpstreamName, MintToken>>;
  /** The operations that the gateway answers itself, by operation id. */
  readonly ownAnswers: ReadonlyMap<string, OwnAnswer>;
  /** Where people open pages: answers to their browsers. All others get the error. */
  readonly pages?: EdgePages;
  readonly rates: RateLimiter;
  readonly shares: Shares;
  readonly connections: NetworkConnections;
  /** Of people with sockets, whose handshakes take turns by network. */
  readonly networks: CallerNetworks;
  /** Header lines that name this cell to a service; none for the first. */
  readonly cellLines: readonly string[];
  readonly socketsMax: number;
  /** Origins of web pages that may call this interface; null: its own pages only. */
  readonly origins: AllowedOrigins | null;
  /** Of the API, also at the other origin; without a slash at its end. */
  readonly apiUrl: string;
  /** The origin of this API, whose pages may call it without being configured. */
  readonly ownOrigin: string;
  readonly securityHeaders: readonly string[];
  readonly addressOf: AddressReader;
  readonly isDraining: () => boolean;
  /** Whether traces of this peer are continued, and not only linked. */
  readonly isTraceParent: (peer: string | undefined) => boolean;
  readonly clientStalledMs: number;
  /** Called once per request, when its answer is sent or its client has disconnected. */
  readonly onAnswered: (context: RequestContext, status: number, isComplete: boolean) => void;
}

/**
 * Handles a request in steps, each in the file of its name. A step stores its result on the context, or throws a Fault, which
 * `runSteps` answers. No step decodes, parses or waits for something that an earlier step can refuse.
 */
export function createEdge(parts: EdgeParts): (req: IncomingMessage, res: ServerResponse) => void {
  return function edge(req, res) {
    // The request is pipelined behind another one. It starts when that one is answered: only safe requests may run in
    // parallel (RFC 9112 section 9.3.2), and Node does not report to a queued response that the client disconnected.
    if (res.socket === null) {
      res.once('socket', () => edge(req, res));
      return;
    }
    const context = new RequestContext(req, parts);
    context.isLast = parts.isDraining();
    const { socket } = req;
    parts.connections.markActive(socket);
    res.once('close', () => {
      if (context.principal !== null) parts.connections.markActive(socket);
      parts.rates.answered(context, res.headersSent ? res.statusCode : null);
      parts.onAnswered(context, res.statusCode, res.writableFinished);
    });
    const entered = { method: context.method, origin: parts.ownOrigin };
    context.span = startEntrySpan(req.headers, entered, parts.isTraceParent(context.peer));
    if (context.span === null) void runSteps(context, res, parts);
    else void inSpan(context.span, () => runSteps(context, res, parts));
  };
}

async function runSteps(context: RequestContext, res: ServerResponse, parts: EdgeParts): Promise<void> {
  try {
    const found = parts.routes(context.path);
    allowOrigin(context, found, parts.origins);
    refuseAmbiguity(context);
    negotiateVersion(context);
    if (context.method === 'OPTIONS') {
      const lines =
        context.url === '*' ? ALLOWED : answerOptions(context, matchPath(found, parts.apiUrl), parts.origins);
      startAnswer(context, res, 204, lines);
      res.end();
      return;
    }
    if (found === null && parts.pages !== undefined && isRead(context) && wantsPage(context)) {
      await parts.pages.unknown(context, res);
      return;
    }
    const entry = matchPath(found, parts.apiUrl);
    const route = matchMethod(context, entry);
    context.route = route;
    context.reply.push(...route.notice);
    if (route.isSocket) throw upgradeRequired();
    if (route.anyOrigin && route.contract.scope !== 'none') refuseReboundHost(context, parts.ownOrigin);
    await parts.rates.checkAddress(context, route);
    context.principal = await authenticate(context.headers.authorization, route, parts, context.network).catch(
      (failure: unknown) => {
        throw parts.rates.refuse(context, failure);
      },
    );
    if (context.principal !== null) parts.connections.authenticated(context.req.socket);
    await parts.rates.checkCaller(context, route);
    if (route.to === 'gateway') {
      await answerOwnOperation(context, res, parts);
      return;
    }
    const body = await boundBody(context, res, takeShare(context, res, parts));
    const { upstreams, clientStalledMs } = parts;
    forward({
      context,
      res,
      upstream: upstreams[route.to],
      body,
      caller: callerLines(context, route.to, parts),
      hasCookies: route.hasCookies,
      hasClient: route.hasClient === true,
      clientStalledMs,
    });
  } catch (failure) {
    if (failure instanceof ClientClosedError) return;
    const isOfPage = context.route?.contract.page === true && wantsPage(context) && !res.headersSent;
    if (parts.pages !== undefined && isOfPage && isBusy(failure)) parts.pages.busy(context, res, failure);
    else answerFault(context, res, failure);
  }
}

function isBusy(failure: unknown): failure is Fault {
  return failure instanceof Fault && (failure.code === 'rate_limited' || failure.code === 'unavailable');
}

/** The answer to `OPTIONS *` (RFC 9110 section 9.3.7), which some load balancers use as a health check. */
const ALLOWED = ['Allow', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'];

/** Names the caller for a service: the network, the cell, and the person and the credential if there is one. */
function callerLines(
  context: RequestContext,
  to: UpstreamName,
  { mintToken, cellLines }: EdgeParts,
): readonly string[] {
  const { principal } = context;
  const network = [HEADERS.network, context.network, ...cellLines];
  return principal === null ? network : [...network, HEADERS.principal, mintToken[to](principal)];
}

/** Takes a request slot of this caller until the answer is sent. Returns the function that counts bytes of the body. */
function takeShare(context: RequestContext, res: ServerResponse, { shares }: EdgeParts): ReserveBytes {
  if (res.closed) throw new ClientClosedError();
  const { network } = context;
  // Without a credential each network is a caller, because otherwise one of them could take the share of all.
  const slot = shares.acquire(context.principal?.userId ?? `network ${network}`, network);
  res.once('close', () => slot.release());
  // Keeps no bytes for a client that has disconnected.
  return (bytes) => (res.closed ? new Fault('malformed_request') : slot.hold(bytes));
}

async function answerOwnOperation(
  context: RequestContext,
  res: ServerResponse,
  { ownAnswers }: EdgeParts,
): Promise<void> {
  const answer = ownAnswers.get(context.route?.contract.id ?? '');
  if (answer === undefined) throw new Error(`the gateway has no answer for ${context.route?.contract.id}`);
  await answer(context, res);
}
