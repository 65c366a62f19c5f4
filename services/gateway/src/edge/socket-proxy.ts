import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import { Fault } from '@wts/contracts';
import { ClientClosedError, responseHead, type RenderedFault } from '@wts/service-kit/http';
import { EDGE_LIMITS } from '../limits.ts';
import { allowOrigin, refuseForeignSocket } from './allow-origin.ts';
import { JSON_TYPE, faultAnswer } from './answer.ts';
import { authenticateSocket, takeToken } from './authenticate.ts';
import { RequestContext } from './request-context.ts';
import { checkHandshake, tooManyHandshakes, openUpstreamSocket, type HandshakeReply } from './handshake.ts';
import type { EdgeParts } from './edge.ts';
import { matchMethod, matchPath } from './match-route.ts';
import { negotiateVersion } from './negotiate-version.ts';
import { refuseAmbiguity } from './refuse-ambiguity.ts';
import { Splice } from './splice.ts';

interface ClientSocket {
  readonly context: RequestContext;
  readonly client: Duplex;
  /** Bytes the client sent after its handshake. */
  readonly head: Buffer;
  /** Frees the client's place among its sockets. */
  readonly share: DisposableStack;
}

/**
 * Handles WebSocket upgrades: the same steps as for any request, then a splice instead of an answer.
 * Keeps sync.socket.only-path, sync.socket.refused-upgrade, sync.socket.upgrade-token.
 */
export class SocketProxy {
  readonly #parts: EdgeParts;
  readonly #splices = new Set<Splice>();
  #pending = 0;
  #isClosing = false;

  constructor(parts: EdgeParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#splices.size;
  }

  handle(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    // After an upgrade the socket has no other listener for errors.
    socket.on('error', () => socket.destroy());
    const context = new RequestContext(req, this.#parts);
    this.#pending += 1;
    this.#admit(context, socket, head)
      .catch((failure: unknown) => {
        if (failure instanceof ClientClosedError) {
          socket.destroy();
          this.#parts.onAnswered(context, 101, false);
          return;
        }
        refuseOnSocket(context, socket, failure, this.#parts);
      })
      .finally(() => {
        this.#pending -= 1;
      });
  }

  async #admit(context: RequestContext, socket: Duplex, head: Buffer): Promise<void> {
    const { routes, apiUrl, origins, upstreams, mintToken, networks, rates, shares, socketsMax } = this.#parts;
    const found = routes(context.path);
    allowOrigin(context, found, origins);
    refuseAmbiguity(context);
    negotiateVersion(context);
    const route = matchMethod(context, matchPath(found, apiUrl));
    context.route = route;
    context.reply.push(...route.notice);
    const { to } = route;
    if (!route.isSocket || to === 'gateway')
      throw new Fault('malformed_request', { message: 'This path does not accept WebSocket connections.' });
    checkHandshake(context);
    refuseForeignSocket(context, origins, this.#parts.ownOrigin);
    const { token, rest } = takeToken(context.query);
    await rates.checkAddress(context, route);
    const { network } = context;
    const principal = await authenticateSocket(token, route, this.#parts, network).catch((failure: unknown) => {
      throw rates.refuse(context, failure);
    });
    context.principal = principal;
    this.#parts.connections.authenticated(context.req.socket);
    await rates.checkCaller(context, route);
    if (this.#isClosing || this.#splices.size + this.#pending > socketsMax) throw tooManyHandshakes();
    networks.record(principal.userId, network);
    using share = new DisposableStack();
    share.defer(shares.acquireSocket(principal.userId, network));
    const internalToken = mintToken[to](principal);
    const reply = await whileConnected(socket, (isDisconnected) =>
      openUpstreamSocket(
        {
          upstream: upstreams[to],
          path: context.path + rest,
          context,
          network,
          person: principal.userId,
          internalToken,
        },
        { isDisconnected, networkOf: networks.of },
      ),
    );
    if (reply.agreed) this.#join({ context, client: socket, head, share }, reply);
    else this.#forwardRefusal(context, socket, reply);
  }

  #join(
    { context, client, head, share }: ClientSocket,
    { hold, reply, socket: upstream, head: upstreamHead }: HandshakeReply & { agreed: true },
  ): void {
    if (client.destroyed) {
      upstream.destroy();
      throw new ClientClosedError();
    }
    const lines = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];
    for (const name of ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions']) {
      const value = reply.headers[name];
      if (typeof value === 'string') lines.push(name, value);
    }
    for (const socket of [client, upstream] as Socket[]) {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, EDGE_LIMITS.halfOpenMs);
    }
    client.write(responseHead(101, context.reply, lines));
    // The bytes after the two halves of the handshake are forwarded first.
    if (upstreamHead.length > 0) upstream.unshift(upstreamHead);
    if (head.length > 0) client.unshift(head);
    // A hanging process sends no end; the client reconnects to another one.
    share.defer(hold(() => splice.destroy()));
    const held = share.move();
    const splice = new Splice(client, upstream, () => {
      held.dispose();
      this.#splices.delete(splice);
      this.#parts.onAnswered(context, 101, true);
    });
    this.#splices.add(splice);
    if (this.#isClosing) splice.end(EDGE_LIMITS.halfOpenMs);
  }

  #forwardRefusal(context: RequestContext, socket: Duplex, { reply, body }: HandshakeReply & { agreed: false }): void {
    const lines = ['Content-Type', JSON_TYPE, 'Content-Length', String(body.length)];
    for (const name of ['retry-after', 'www-authenticate', 'sec-websocket-version', 'allow']) {
      const value = reply.headers[name];
      if (typeof value === 'string') lines.push(name, value);
    }
    answerOnSocket(context, socket, { status: reply.statusCode ?? 503, body, lines }, this.#parts);
  }

  /**
   * Ends every socket, spread over half of the time so that clients do not all reconnect together, and destroys the rest at
   * the end. Clients resume at another replica by their cursor.
   */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    const open = [...this.#splices];
    const spreadMs = withinMs / 2;
    await Promise.all(
      open.map(async (splice, index) => {
        await delay((spreadMs * index) / open.length);
        splice.end(spreadMs);
      }),
    );
    const deadline = performance.now() + spreadMs;
    while (this.#splices.size > 0 && performance.now() < deadline) await delay(20);
    for (const splice of this.#splices) splice.destroy();
  }
}

/** Destroys the client's socket when it ends during `work`: a client that ends before the handshake has disconnected. */
async function whileConnected<T>(client: Duplex, work: (isDisconnected: () => boolean) => Promise<T>): Promise<T> {
  const disconnect = (): void => void client.destroy();
  if (client.readableEnded) disconnect();
  client.once('end', disconnect);
  try {
    return await work(() => client.destroyed);
  } finally {
    client.off('end', disconnect);
  }
}

/** Answers with a failure where there is no response object, and ends the connection. */
export function refuseOnSocket(context: RequestContext, socket: Duplex, failure: unknown, parts: EdgeParts): void {
  answerOnSocket(context, socket, faultAnswer(context, failure), parts);
}

function answerOnSocket(
  context: RequestContext,
  socket: Duplex,
  { status, body, lines }: RenderedFault,
  parts: EdgeParts,
): void {
  const head = responseHead(status, context.reply, lines, ['Connection', 'close']);
  socket.on('error', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  // Drops what the client still sends, and destroys the socket when the client does not end it.
  socket.resume();
  socket.once('end', () => socket.destroy());
  setTimeout(() => socket.destroy(), EDGE_LIMITS.lingerMs).unref();
  parts.onAnswered(context, status, true);
}
