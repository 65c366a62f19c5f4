import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_VERSION, Fault, LIMITS } from '@wts/contracts';
import { SetupError } from '../config/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { Connections, refusalOf, unlessSurplus } from './connections.ts';
import { checkMessage, requestIdOf } from './request-context.ts';
import { responseHead, renderFault, type RenderedFault } from './render-fault.ts';
import { boundPipelining, QueuedResponse, serializePipelining } from './pipelining.ts';
import { originForm } from './target.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** How often Node checks for connections over their time. */
const CONNECTION_CHECK_MS = 5_000;
/** How often a draining server closes idle connections. */
const IDLE_CHECK_MS = 50;

/** How long a sender may take. Node checks it every `checkMs`. */
interface SenderTimeouts {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly checkMs: number;
  /** Silence after the client closed its side. */
  readonly halfClosedMs: number;
}

export type ServerCallers = 'anyone' | 'services';

interface ServerOptions {
  readonly log?: Logger;
  readonly timeouts?: Partial<SenderTimeouts>;
  /** The bound of the process, when it has several servers. */
  readonly connections?: Connections;
  /**
   * Clients of the server. Other services send one request at a time, so their bytes are not split, which saves some percent of
   * the throughput.
   */
  readonly callers?: ServerCallers;
}

/**
 * A server with the common limits. Errors of Node's parser have the common shape too. A slow sender is refused and disconnected,
 * whichever part of the request is late: keeps limits.time.slow-sender.
 */
export function createHttpServer(listener: RequestListener, options: ServerOptions = {}): Server {
  const { log, timeouts = {}, connections = new Connections(LIMITS.connectionsMax, log) } = options;
  const isPublic = options.callers !== 'services';
  const server = createServer(
    {
      maxHeaderSize: LIMITS.headerBytes,
      headersTimeout: timeouts.headersTimeoutMs ?? LIMITS.headersTimeoutMs,
      requestTimeout: timeouts.requestTimeoutMs ?? LIMITS.requestTimeoutMs,
      keepAliveTimeout: SERVICE_LIMITS.keepAliveTimeoutMs,
      connectionsCheckingInterval: timeouts.checkMs ?? CONNECTION_CHECK_MS,
      noDelay: true,
      // Node would reply in its own shape; `checkMessage` checks the same.
      requireHostHeader: false,
      ...(isPublic && { ServerResponse: QueuedResponse }),
    },
    unlessSurplus(listener, refuse),
  );
  // Node would silently drop headers past its count; `checkMessage` refuses the request instead.
  server.maxHeadersCount = 0;
  if (isPublic) serializePipelining(server, timeouts.halfClosedMs);
  else boundPipelining(server);
  connections.hold(server);
  attachParserErrors(server, log);
  return server;
}

/** Replies in the common shape to bytes that are no request: bad syntax, headers too large, senders too slow. */
function attachParserErrors(server: Server, log?: Logger): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The parser emits it again for all bytes that follow.
    if (refused.has(socket)) return;
    refused.add(socket);
    // An error of the operating system: the connection broke, for example because the process of a client ended.
    if (error.syscall !== undefined) {
      socket.destroy();
      return;
    }
    const fault = faultOfParser(error);
    const requestId = randomUUID();
    log?.info({ status: fault.status, code: fault.code, reason: error.code, requestId }, 'refused by the HTTP parser');
    // A closed connection gets no reply.
    if (!socket.writable) socket.destroy();
    else refuseInTurn(socket, fault, requestId);
  });
  server.on('checkExpectation', (req, res) => {
    refuse(new Fault('expectation_failed', { message: 'The only supported Expect value is 100-continue.' }), req, res);
  });
}

/** A field that Node sets on a socket: the response under way. */
interface ReplyingSocket {
  readonly _httpMessage?: (Pick<ServerResponse, 'headersSent' | 'once'> & { readonly req: IncomingMessage }) | null;
}

/**
 * Complete requests before the invalid bytes are under way: they get their replies first, because a client would take this one
 * for theirs.
 */
function refuseInTurn(socket: Duplex, fault: Fault, requestId: string): void {
  const { _httpMessage: reply } = socket as ReplyingSocket;
  if (reply?.req.complete === true) {
    reply.once('close', () => {
      // A reply may be the last one of its connection, which then closes by itself.
      if (socket.writable) refuseInTurn(socket, fault, requestId);
    });
  } else if (reply?.headersSent === true) socket.destroy();
  else writeFault(socket, fault, requestId);
}

/** Refuses a request before the application gets it. */
function refuse(fault: Fault, req: IncomingMessage, res: ServerResponse): void {
  const { status, body, lines } = render(fault, requestIdOf(req));
  res.writeHead(status, lines).end(body);
}

/** A request line with a method that the parser does not support (RFC 9110 section 9.1). */
const REQUEST_LINE = /^[A-Za-z0-9_-]{1,32} \/[\x21-\x7e]* HTTP\/1\.[01]\r?\n/;

/** The parser's error has the bytes that it got, and how many of them it had read. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/** The parser's own words for what it did not expect, which repeat nothing of the request. */
const REASON = /^Parse Error: ([\x20-\x7e]{1,100})$/;

/** Keeps errors.400.parser-reason. */
function faultOfParser({ code, message, rawPacket, bytesParsed = 0 }: ParserError): Fault {
  if (code === 'HPE_INVALID_METHOD') {
    // Other requests may precede it in the same packet.
    const start = (rawPacket?.lastIndexOf('\n', bytesParsed) ?? -1) + 1;
    if (REQUEST_LINE.test(rawPacket?.toString('latin1', start, start + LIMITS.headerBytes) ?? ''))
      return new Fault('method_not_allowed', { headers: { Allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS' } });
  }
  if (code === 'HPE_HEADER_OVERFLOW') return new Fault('headers_too_large');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Fault('payload_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault('request_timeout');
  const reason = REASON.exec(message)?.[1];
  const more = reason === undefined ? {} : { message: `The request cannot be parsed: ${reason}.` };
  return new Fault('malformed_request', more);
}

export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Upgraded sockets. Node does not store them, so a server that drains needs its own list. */
const upgraded = new WeakMap<Server, Set<Duplex>>();

/**
 * Handles upgrades of a server. An invalid message is refused before `listener` is called, an error of `listener` is a bug that
 * closes this one connection, and a reset never ends the process.
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
      log?.error({ err }, 'could not handle an upgrade');
      return refuseUpgrade(socket, new Fault('internal', { cause: err }), requestIdOf(req));
    }
  });
}

/** Refuses an upgrade, and closes the connection. */
export function refuseUpgrade(socket: Duplex, fault: Fault, requestId: string): void {
  if (socket.writable) writeFault(socket, fault, requestId);
  else socket.destroy();
}

function writeFault(socket: Duplex, fault: Fault, requestId: string): void {
  const { status, body, lines } = render(fault, requestId);
  // Without a listener, a reset while the last bytes are sent would end the process.
  socket.on('error', () => socket.destroy());
  socket.end(responseHead(status, lines) + body.toString(), () => {
    socket.destroy();
  });
}

function render(fault: Fault, requestId: string): RenderedFault {
  const rendered = renderFault(fault, requestId);
  const common = ['Api-Version', API_VERSION, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  return { ...rendered, lines: [...common, ...rendered.lines, 'Connection', 'close'] };
}

/** Binds the port and returns it. Rejects with a SetupError for what an operator can change. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host, backlog: SERVICE_LIMITS.connectionsBacklog }, resolve);
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
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new SetupError(`${host} is no address of this machine; set HOST to one.`, { cause });
  return cause;
}

/**
 * Stops a server: accepts no new connection, lets requests under way end within the grace period, then closes all connections.
 * Idle connections are closed repeatedly, because connections become idle with each reply.
 */
export async function drainServer(server: Server, graceMs: number): Promise<{ cut: boolean }> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>();
  const timer = setTimeout(() => resolve('overdue'), graceMs);
  const outcome = await Promise.race([closed, overdue]);
  clearInterval(idleCheck);
  clearTimeout(timer);
  if (outcome !== 'overdue') return { cut: false };
  server.closeAllConnections();
  for (const socket of upgraded.get(server) ?? []) socket.destroy();
  await closed;
  return { cut: true };
}

/** Stops a server and closes its connections without a reply. Does nothing when it has stopped. */
export async function closeNow(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
