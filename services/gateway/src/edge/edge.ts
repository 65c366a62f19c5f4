import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator, MintToken } from '@wts/access';
import { Fault } from '@wts/contracts';
import { ClientClosedError } from '@wts/service-kit/http';
import type { ReserveBytes } from '@wts/service-kit/http';
import { isTracing, traceRequest } from '@wts/service-kit/observe';
import type { UpstreamName } from '../routes.ts';
import type { Upstream } from '../upstream.ts';
import { allowOrigin, answerOptions } from './allow-origin.ts';
import { answerFault, startAnswer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { boundBody } from './bound-body.ts';
import { RequestContext } from './request-context.ts';
import { forward } from './forward.ts';
import { upgradeRequired } from './handshake.ts';
import type { RateLimiter } from './limit-rate.ts';
import { matchMethod, matchPath } from './match-route.ts';
import type { NetworkConnections } from './network-connections.ts';
import { negotiateVersion } from './negotiate-version.ts';
import { refuseAmbiguity } from './refuse-ambiguity.ts';
import type { RouteTable } from './route-table.ts';
import type { Shares } from './shares.ts';

/** Answers an operation that the gateway serves itself. */
export type OwnAnswer = (context: RequestContext, res: ServerResponse) => void | Promise<void>;

/** What the steps work with; one set per origin. */
export interface EdgeParts {
  readonly routes: RouteTable;
  readonly upstreams: Readonly<Record<UpstreamName, Upstream>>;
  /** Makes the token that names to each of them the person on whose behalf it is called. */
  readonly mintToken: Readonly<Record<UpstreamName, MintToken>>;
  /** By operation id. */
  readonly ownAnswers: ReadonlyMap<string, OwnAnswer>;
  readonly authenticator: Authenticator;
  readonly rates: RateLimiter;
  readonly shares: Shares;
  readonly connections: NetworkConnections;
  readonly socketsMax: number;
  /** Origins of web pages that may call this interface, and our own, whose pages need no leave. */
  readonly origins: ReadonlySet<string>;
  readonly ownOrigin: string;
  readonly securityHeaders: readonly string[];
  readonly isDraining: () => boolean;
  readonly clientStalledMs: number;
  /** Told once per request, when its answer is out or its client is gone. */
  readonly onAnswered: (context: RequestContext, status: number, isComplete: boolean) => void;
}

/**
 * The way of a request through the gateway. Each step has a file of its name; each either finds something out, which it
 * leaves on the context, or refuses by throwing a Fault, which is rendered here once. Nothing is decoded, parsed or
 * waited for that the steps before could have refused.
 */
export function createEdge(parts: EdgeParts): (req: IncomingMessage, res: ServerResponse) => void {
  return function edge(req, res) {
    // Sent behind a request that is not answered yet. Its turn comes when it has the connection to itself: only safe
    // requests may run side by side (RFC 9112 section 9.3.2), and Node tells a waiting answer nothing of a lost client.
    if (res.socket === null) {
      res.once('socket', () => edge(req, res));
      return;
    }
    const context = new RequestContext(req, parts.securityHeaders);
    context.isLast = parts.isDraining();
    const { socket } = req;
    parts.connections.touch(socket);
    res.once('close', () => {
      if (context.principal !== null) parts.connections.touch(socket);
      parts.rates.answered(context, res.headersSent ? res.statusCode : null);
      parts.onAnswered(context, res.statusCode, res.writableFinished);
    });
    if (!isTracing()) {
      void pass(context, res, parts);
      return;
    }
    traceRequest(req.headers, context.method, (span) => {
      context.span = span;
      void pass(context, res, parts);
    });
  };
}

async function pass(context: RequestContext, res: ServerResponse, parts: EdgeParts): Promise<void> {
  try {
    const found = parts.routes(context.path);
    allowOrigin(context, found, parts.origins);
    refuseAmbiguity(context);
    negotiateVersion(context);
    if (context.method === 'OPTIONS') {
      const lines = context.url === '*' ? ALLOWED : answerOptions(context, matchPath(found), parts.origins);
      startAnswer(context, res, 204, lines);
      res.end();
      return;
    }
    const entry = matchPath(found);
    const route = matchMethod(context, entry);
    context.route = route;
    context.reply.push(...route.notice);
    if (route.isSocket) throw upgradeRequired();
    await parts.rates.checkAddress(context, route);
    context.principal = await authenticate(
      context.headers.authorization,
      route,
      parts.authenticator,
      parts.rates.networkOf(context),
    ).catch((failure: unknown) => {
      throw parts.rates.refuse(context, failure);
    });
    if (context.principal !== null) parts.connections.vouch(context.req.socket);
    await parts.rates.checkCaller(context, route);
    if (route.to === 'gateway') {
      await answerHere(context, res, parts);
      return;
    }
    const body = await boundBody(context, res, takeShare(context, res, parts));
    const internalToken = context.principal === null ? null : parts.mintToken[route.to](context.principal);
    const { upstreams, clientStalledMs } = parts;
    forward({ context, res, upstream: upstreams[route.to], body, internalToken, clientStalledMs });
  } catch (failure) {
    if (failure instanceof ClientClosedError) return;
    answerFault(context, res, failure);
  }
}

/** The answer to OPTIONS of the server as a whole (RFC 9110 section 9.3.7): some balancers ask so whether it is there. */
const ALLOWED = ['Allow', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'];

/** A place among the requests of this caller until the answer is out; what it gives back counts the bytes of the body. */
function takeShare(context: RequestContext, res: ServerResponse, { shares, rates }: EdgeParts): ReserveBytes {
  if (res.closed) throw new ClientClosedError();
  const place = shares.enter(context.principal?.userId ?? '', rates.networkOf(context));
  res.once('close', () => place.leave());
  // Of a client that has left, nothing is held any more.
  return (bytes) => (res.closed ? new Fault('malformed_request') : place.hold(bytes));
}

async function answerHere(context: RequestContext, res: ServerResponse, { ownAnswers }: EdgeParts): Promise<void> {
  const answer = ownAnswers.get(context.route?.contract.id ?? '');
  if (answer === undefined) throw new Error(`nobody answers ${context.route?.contract.id}`);
  await answer(context, res);
}
