import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { comeAgainSeconds, Fault, HEADERS, LIMITS } from '@wts/contracts';
import { Semaphore, socketsOf, targetOf } from '@wts/service-kit/call';
import type { Address } from '@wts/service-kit/call';
import { ClientClosedError } from '@wts/service-kit/http';
import { EDGE_LIMITS } from '../limits.ts';
import type { Upstream } from '../upstream.ts';
import type { RequestContext } from './request-context.ts';
import { connectionOptions } from './read-headers.ts';

/** What the service said to an upgrade: it agreed, or it answered as to any request. */
export type HandshakeReply =
  | {
      readonly agreed: true;
      /** The socket stands, until what is returned is called; it is given up by what is passed when its address is gone. */
      readonly hold: (onGone: () => void) => () => void;
      readonly reply: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    }
  | { readonly agreed: false; readonly reply: IncomingMessage; readonly body: Buffer };

const KEY = /^[A-Za-z0-9+/]{22}==$/;

/** RFC 6455 section 4.2.1, all that can be judged without asking anyone. */
export function checkHandshake(context: RequestContext): void {
  const { headers, method } = context;
  if (method !== 'GET') throw new Fault('malformed_request', { message: 'A WebSocket handshake must use GET.' });
  if (context.hasBody) throw new Fault('malformed_request', { message: 'A WebSocket handshake must not have a body.' });
  if (!asksForWebSocket(context)) throw upgradeRequired();
  if (headers.socketVersion.length !== 1 || headers.socketVersion[0] !== '13') throw upgradeRequired();
  if (headers.socketKey.length !== 1 || !KEY.test(headers.socketKey[0] as string)) {
    throw new Fault('malformed_request', { message: 'Sec-WebSocket-Key must be 16 bytes in base64.' });
  }
}

export function upgradeRequired(): Fault {
  return new Fault('upgrade_required', {
    message: 'This path accepts only WebSocket handshakes of version 13.',
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  });
}

function asksForWebSocket({ headers }: RequestContext): boolean {
  return (
    headers.upgrade.length === 1 &&
    headers.upgrade[0]?.toLowerCase() === 'websocket' &&
    connectionOptions(headers).includes('upgrade')
  );
}

/** Per address, so that those who wait for a process that sleeps are in nobody's way who goes to another. */
const semaphores = new WeakMap<Address, Semaphore>();

/** What is asked of a service for a client. */
export interface Handshake {
  readonly upstream: Upstream;
  readonly path: string;
  readonly context: RequestContext;
  readonly internalToken: string;
}

/**
 * Opens the socket at the service on a connection of its own, at the address that has the fewest. A handshake changes
 * nothing, so where one address refuses the connection, breaks it off or shows no sign of life, the next one is tried.
 *
 * Only so many handshakes go to an address at once. When thousands of clients come back in one second, the others wait
 * here, where they cost nothing, and requests of those who never left pass between. Who has left by the time it is their
 * turn is not asked for: in such a wave many do, and come again.
 */
export async function shakeHands(handshake: Handshake, isGone: () => boolean): Promise<HandshakeReply> {
  const { upstream } = handshake;
  const askedAt = performance.now();
  const checkWait = (): void => {
    if (isGone()) throw new ClientClosedError();
    if (performance.now() - askedAt > EDGE_LIMITS.handshakeWaitMs) throw comeAgain();
  };
  const tried = new Set<Address>();
  for (let target = upstream.pick(tried, socketsOf); target !== null; target = upstream.pick(tried, socketsOf)) {
    tried.add(target);
    const attempt = await tryAt(target, handshake, checkWait);
    if ('refused' in attempt) {
      if (!attempt.wasConnected) upstream.failed(target, attempt.refused);
      continue;
    }
    upstream.answered(target);
    // As for any request: a service that does not believe us is not the caller's fault.
    if (attempt.reply.statusCode === 401)
      throw new Fault('unavailable', { cause: new Error('refused the internal token') });
    return attempt;
  }
  throw new Fault('unavailable');
}

interface Refusal {
  readonly refused: Error;
  readonly wasConnected: boolean;
}

async function tryAt(address: Address, handshake: Handshake, checkWait: () => void): Promise<HandshakeReply | Refusal> {
  const lost = Promise.withResolvers<Refusal>();
  const controller = new AbortController();
  const end = handshake.upstream.begin(address, () => {
    const refused = new Error('it shows no sign of life');
    lost.resolve({ refused, wasConnected: true });
    controller.abort(refused);
  });
  const inTurn = semaphoreOf(address).run(async () => {
    controller.signal.throwIfAborted();
    checkWait();
    const reply = await ask(handshake, address, controller.signal);
    if (controller.signal.aborted && 'agreed' in reply && reply.agreed) reply.socket.destroy();
    return reply;
  });
  try {
    return await Promise.race([lost.promise, inTurn]);
  } finally {
    end();
  }
}

export function comeAgain(): Fault {
  return new Fault('unavailable', {
    message: 'Too many sockets are being opened; try again shortly',
    retryAfterSeconds: comeAgainSeconds(),
  });
}

function semaphoreOf(address: Address): Semaphore {
  let semaphore = semaphores.get(address);
  if (semaphore === undefined) {
    semaphore = new Semaphore(EDGE_LIMITS.handshakesAtOnce);
    semaphores.set(address, semaphore);
  }
  return semaphore;
}

function ask(
  { upstream, path, context, internalToken }: Handshake,
  address: Address,
  signal: AbortSignal,
): Promise<HandshakeReply | Refusal> {
  const { origin } = address;
  return new Promise((resolve) => {
    let wasConnected = false;
    const fail = (refused: Error): void => resolve({ refused, wasConnected });
    const send = origin.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send({
      ...targetOf(address),
      method: 'GET',
      path,
      agent: false,
      signal,
      headers: handshakeLines(origin, context, internalToken),
    });
    const giveUp = (): void => void request.destroy(new Error('the upgrade was not answered in time'));
    let deadline = setTimeout(giveUp, EDGE_LIMITS.connectTimeoutMs);
    request.once('socket', (socket) =>
      socket.once('connect', () => {
        wasConnected = true;
        clearTimeout(deadline);
        deadline = setTimeout(giveUp, LIMITS.internalCallTimeoutMs);
      }),
    );
    request.on('error', fail);
    request.once('close', () => clearTimeout(deadline));
    request.once('upgrade', (reply, socket, head) => {
      clearTimeout(deadline);
      const hold = (onGone: () => void): (() => void) => upstream.beginSocket(address, onGone);
      resolve({ agreed: true, hold, reply, socket, head });
    });
    request.once('response', (reply) => {
      readRefusal(reply).then((body) => resolve({ agreed: false, reply, body }), fail);
    });
    request.end();
  });
}

function handshakeLines(origin: URL, { headers, requestId }: RequestContext, internalToken: string): string[] {
  return [
    'Host',
    origin.host,
    'Connection',
    'Upgrade',
    'Upgrade',
    'websocket',
    'Sec-WebSocket-Version',
    '13',
    'Sec-WebSocket-Key',
    headers.socketKey[0] as string,
    HEADERS.requestId,
    requestId,
    HEADERS.principal,
    internalToken,
    ...headers.onward,
  ];
}

async function readRefusal(reply: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of reply as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > EDGE_LIMITS.refusalBytesMax) throw new Error('the service refuses at too great length');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
