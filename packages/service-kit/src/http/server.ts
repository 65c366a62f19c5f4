import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_VERSION, Fault, LIMITS } from '@wts/contracts';
import { SetupError } from '../life/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { Connections, refusalOf, unlessSurplus } from './connections.ts';
import { checkMessage, requestIdOf } from './request-context.ts';
import { responseHead, renderFault } from './render-fault.ts';
import type { RenderedFault } from './render-fault.ts';
import { boundPipelining, LinedResponse, takeInTurn } from './pipelining.ts';
import { originForm } from './target.ts';

/** How often Node looks for connections that passed their time. */
const CONNECTION_CHECK_MS = 5_000;
/** How often a draining server looks for connections that became idle. */
const SWEEP_MS = 50;

/** How long a sender may take. Node enforces it as often as it checks. */
interface Patience {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly checkMs: number;
}

export type ServerCallers = 'anyone' | 'services';

interface ServerOptions {
  readonly log?: Logger;
  readonly patience?: Partial<Patience>;
  /** Of the process, when the server is not the only one of it. */
  readonly connections?: Connections;
  /**
   * Who connects. Other services send one request at a time, so what they send needs no look at each byte, which costs a
   * server some percent of what it can do.
   */
  readonly callers?: ServerCallers;
}

/**
 * A server with the limits every door has. Answers of Node's own parser have the common shape too. A slow sender
 * is refused and cut off, whatever part of the request is late: keeps limits.time.slow-sender.
 */
export function createHttpServer(listener: RequestListener, options: ServerOptions = {}): Server {
  const { log, patience = {}, connections = new Connections(LIMITS.connectionsMax, log) } = options;
  const isPublic = options.callers !== 'services';
  const server = createServer(
    {
      maxHeaderSize: LIMITS.headerBytes,
      headersTimeout: patience.headersTimeoutMs ?? LIMITS.headersTimeoutMs,
      requestTimeout: patience.requestTimeoutMs ?? LIMITS.requestTimeoutMs,
      keepAliveTimeout: LIMITS.keepAliveTimeoutMs,
      connectionsCheckingInterval: patience.checkMs ?? CONNECTION_CHECK_MS,
      noDelay: true,
      // Node would answer in its own shape; `checkMessage` looks at the same.
      requireHostHeader: false,
      ...(isPublic && { ServerResponse: LinedResponse }),
    },
    unlessSurplus(listener, refuse),
  );
  // Node would silently drop headers past its count; `checkMessage` refuses the request instead.
  server.maxHeadersCount = 0;
  if (isPublic) takeInTurn(server);
  else boundPipelining(server);
  connections.hold(server);
  attachParserErrors(server, log);
  return server;
}

/** Answers in the common shape what never becomes a request: bad syntax, headers too large, senders too slow. */
function attachParserErrors(server: Server, log?: Logger): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The parser says it again of everything that comes behind.
    if (refused.has(socket)) return;
    refused.add(socket);
    const fault = faultOfParser(error);
    const requestId = randomUUID();
    log?.info({ status: fault.status, code: fault.code, reason: error.code, requestId }, 'refused by the HTTP parser');
    // A connection that is gone cannot be told anything.
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuseInTurn(socket, fault, requestId);
  });
  server.on('checkExpectation', (req, res) => {
    refuse(new Fault('expectation_failed', { message: 'The only supported Expect value is 100-continue.' }), req, res);
  });
}

/** What Node keeps on a socket: the answer whose turn it is. */
interface Answering {
  readonly _httpMessage?: (Pick<ServerResponse, 'headersSent' | 'once'> & { readonly req: IncomingMessage }) | null;
}

/**
 * Whole requests that came before the fault are under way, and what they change is changed: their callers get their own
 * answers first, because this one would pass for it.
 */
function refuseInTurn(socket: Duplex, fault: Fault, requestId: string): void {
  const { _httpMessage: answer } = socket as Answering;
  if (answer?.req.complete === true) {
    answer.once('close', () => {
      // An answer may be the last of its connection, which then ends by itself.
      if (socket.writable) refuseInTurn(socket, fault, requestId);
    });
  } else if (answer?.headersSent === true) socket.destroy();
  else writeFault(socket, fault, requestId);
}

/** Answers a request that no application sees. */
function refuse(fault: Fault, req: IncomingMessage, res: ServerResponse): void {
  const { status, body, lines } = render(fault, requestIdOf(req));
  res.writeHead(status, lines).end(body);
}

/** A request line whose method is a word, though none the parser knows (RFC 9110 section 9.1). */
const REQUEST_LINE = /^[A-Za-z0-9_-]{1,32} \/[\x21-\x7e]* HTTP\/1\.[01]\r?\n/;

/** The parser's error says which bytes it was given, and how many of them it had read. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

function faultOfParser({ code, rawPacket, bytesParsed = 0 }: ParserError): Fault {
  if (code === 'HPE_INVALID_METHOD') {
    // Other requests may stand before it in the same packet.
    const start = (rawPacket?.lastIndexOf('\n', bytesParsed) ?? -1) + 1;
    if (REQUEST_LINE.test(rawPacket?.toString('latin1', start, start + LIMITS.headerBytes) ?? '')) {
      return new Fault('method_not_allowed', { headers: { Allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS' } });
    }
  }
  if (code === 'HPE_HEADER_OVERFLOW') return new Fault('headers_too_large');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Fault('payload_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('request_timeout');
  return new Fault('malformed_request');
}

export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Sockets that left HTTP. Node forgets them, so a server that drains must know them itself. */
const upgraded = new WeakMap<Server, Set<Duplex>>();

/**
 * Takes upgrades of a server. What is wrong with the message is refused before `listener` sees it, what `listener` throws
 * is a bug that ends this one connection, and a reset never ends the process.
 */
export function onUpgrade(server: Server, listener: UpgradeListener, log?: Logger): void {
  const sockets = new Set<Duplex>();
  upgraded.set(server, sockets);
  server.on('upgrade', (req, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    req.url = originForm(req.url ?? '', req.headers.host);
    const fault = refusalOf(socket) ?? checkMessage(req);
    if (fault !== null) return refuseUpgrade(socket, fault, requestIdOf(req));
    try {
      return listener(req, socket, head);
    } catch (err) {
      log?.error({ err }, 'could not take an upgrade');
      return refuseUpgrade(socket, new Fault('internal', { cause: err }), requestIdOf(req));
    }
  });
}

/** Answers an upgrade that is not accepted, and closes the connection. */
export function refuseUpgrade(socket: Duplex, fault: Fault, requestId: string): void {
  if (socket.writable) writeFault(socket, fault, requestId);
  else socket.destroy();
}

function writeFault(socket: Duplex, fault: Fault, requestId: string): void {
  const { status, body, lines } = render(fault, requestId);
  // Nobody else listens for a reset while the last bytes leave.
  socket.on('error', () => socket.destroy());
  socket.end(responseHead(status, lines) + body.toString(), () => {
    socket.destroy();
  });
}

function render(fault: Fault, requestId: string): RenderedFault {
  const answer = renderFault(fault, requestId);
  const common = ['Api-Version', API_VERSION, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  return { ...answer, lines: [...common, ...answer.lines, 'Connection', 'close'] };
}

/** Binds the port and returns it. Rejects with a sentence when that is not possible. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host, backlog: LIMITS.connectionsBacklog }, resolve);
  try {
    await promise;
  } catch (cause) {
    throw setupErrorOf(cause, host, port);
  } finally {
    server.off('error', reject);
  }
  return (server.address() as { port: number }).port;
}

function setupErrorOf(cause: unknown, host: string, port: number): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new SetupError(`Port ${port} on ${host} is taken; choose another one.`, { cause });
  if (code === 'EACCES') return new SetupError(`Port ${port} needs more rights; choose 1024 or above.`, { cause });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new SetupError(`${host} is no address of this machine; set HOST to one.`, { cause });
  }
  return cause;
}

/**
 * Stops a server: takes no new connection, lets requests in progress end within the grace, then cuts what is left.
 * Connections without a request are closed at once and again and again, because one becomes idle with every answer.
 */
export async function drainServer(server: Server, graceMs: number): Promise<{ cut: boolean }> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>();
  const timer = setTimeout(() => resolve('overdue'), graceMs);
  const outcome = await Promise.race([closed, overdue]);
  clearInterval(sweep);
  clearTimeout(timer);
  if (outcome !== 'overdue') return { cut: false };
  server.closeAllConnections();
  for (const socket of upgraded.get(server) ?? []) socket.destroy();
  await closed;
  return { cut: true };
}

/** Stops a server without a word to anybody. Does nothing when it has stopped. */
export async function closeNow(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
