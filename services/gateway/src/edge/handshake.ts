import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { readBounded } from '@wts/access';
import { randomRetryAfterSeconds, Fault, HEADERS } from '@wts/contracts';
import { socketsOf, targetOf, type Address, type CallOutcome } from '@wts/service-kit/call';
import { FairGate, type NetworkOf } from '@wts/service-kit/fairness';
import { ClientClosedError } from '@wts/service-kit/http';
import { EDGE_LIMITS } from '../limits.ts';
import type { Upstream } from '../upstream.ts';
import type { RequestContext } from './request-context.ts';
import { connectionOptions } from './read-headers.ts';
import { SERVICE_LIMITS } from '@wts/service-kit/limits';

/** The reply of a service to an upgrade: it agreed, or it refused with an HTTP answer. */
export type HandshakeReply =
  | {
      readonly agreed: true;
      /** Counts the socket for its address until the returned function is called. Calls `onGone` when the address fails. */
      readonly hold: (onGone: () => void) => () => void;
      readonly reply: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    }
  | { readonly agreed: false; readonly reply: IncomingMessage; readonly body: Buffer };

const KEY = /^[A-Za-z0-9+/]{22}==$/;

/** RFC 6455 section 4.2.1: the checks that need no other service. */
export function checkHandshake(context: RequestContext): void {
  const { headers, method } = context;
  if (method !== 'GET') throw new Fault('malformed_request', { message: 'A WebSocket handshake must use GET.' });
  if (context.hasBody) throw new Fault('malformed_request', { message: 'A WebSocket handshake must not have a body.' });
  if (!requestsWebSocket(context)) throw upgradeRequired();
  if (headers.socketVersion.length !== 1 || headers.socketVersion[0] !== '13') throw upgradeRequired();
  if (headers.socketKey.length !== 1 || !KEY.test(headers.socketKey[0] as string))
    throw new Fault('malformed_request', { message: 'Sec-WebSocket-Key must be 16 bytes in base64.' });
}

export function upgradeRequired(): Fault {
  return new Fault('upgrade_required', {
    message: 'This path accepts only WebSocket handshakes of version 13.',
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  });
}

function requestsWebSocket({ headers }: RequestContext): boolean {
  return (
    headers.upgrade.length === 1 &&
    headers.upgrade[0]?.toLowerCase() === 'websocket' &&
    connectionOptions(headers).includes('upgrade')
  );
}

const TOO_MANY = 'Too many sockets are being opened';

/** Per address, so that clients waiting for a hanging process do not delay clients of another. */
const gates = new WeakMap<Address, FairGate>();

/** What may happen while a handshake waits for its turn, and whose turn it is. */
interface Waiting {
  readonly isDisconnected: () => boolean;
  readonly networkOf: NetworkOf;
}

/** The upgrade that the gateway requests from a service for a client. */
export interface Handshake {
  readonly upstream: Upstream;
  readonly path: string;
  readonly context: RequestContext;
  readonly network: string;
  readonly person: string;
  readonly internalToken: string;
}

/**
 * Opens a socket at the service on a new connection, to the address with the fewest sockets. A handshake changes nothing, so
 * when an address refuses or breaks the connection, or does not respond, the gateway tries the next one.
 *
 * The number of parallel handshakes per address is limited; they take turns by network and person. In a reconnect storm the other
 * clients wait in the gateway, and requests of connected clients are not delayed. No handshake is sent for a client that disconnected
 * while it waited.
 */
export async function openUpstreamSocket(handshake: Handshake, waiting: Waiting): Promise<HandshakeReply> {
  const { upstream } = handshake;
  const deadlineMs = performance.now() + EDGE_LIMITS.handshakeWaitMs;
  const tried = new Set<Address>();
  for (let target = upstream.pick(tried, socketsOf); target !== null; target = upstream.pick(tried, socketsOf)) {
    tried.add(target);
    const attempt = await attemptAt(target, handshake, { ...waiting, deadlineMs });
    if ('refused' in attempt) {
      if (!attempt.wasConnected) upstream.failed(target, attempt.refused);
      continue;
    }
    upstream.answered(target);
    // As for any request: a service that refuses the internal token is no fault of the caller.
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

async function attemptAt(
  address: Address,
  handshake: Handshake,
  { isDisconnected, networkOf, deadlineMs }: Waiting & { readonly deadlineMs: number },
): Promise<HandshakeReply | Refusal> {
  const unresponsive = Promise.withResolvers<Refusal>();
  const controller = new AbortController();
  const end = handshake.upstream.begin(address, () => {
    const refused = new Error('the address does not respond');
    unresponsive.resolve({ refused, wasConnected: true });
    controller.abort(refused);
  });
  const { signal } = controller;
  const inTurn = gateOf(address, networkOf).run(handshake.person, { signal, deadlineMs }, async () => {
    if (isDisconnected()) throw new ClientClosedError();
    const reply = await requestUpgrade(handshake, address, signal);
    if (signal.aborted && 'agreed' in reply && reply.agreed) reply.socket.destroy();
    return reply;
  });
  let outcome: CallOutcome = 'cancelled';
  try {
    const reply = await Promise.race([unresponsive.promise, inTurn]);
    outcome = 'agreed' in reply ? 'answered' : reply.wasConnected ? 'overdue' : 'unreachable';
    return reply;
  } finally {
    end(outcome);
  }
}

export function tooManyHandshakes(): Fault {
  return new Fault('unavailable', {
    message: `${TOO_MANY}; try again shortly`,
    retryAfterSeconds: randomRetryAfterSeconds(),
  });
}

function gateOf(address: Address, networkOf: NetworkOf): FairGate {
  const open = (): FairGate =>
    new FairGate({
      slots: EDGE_LIMITS.handshakesAtOnce,
      networkOf,
      waitMs: EDGE_LIMITS.handshakeWaitMs,
      // Each waiting one is a connection of its client, whose number is bounded.
      waitingMax: Infinity,
      refusal: TOO_MANY,
    });
  return gates.getOrInsertComputed(address, open);
}

function requestUpgrade(
  { upstream, path, context, network, internalToken }: Handshake,
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
      headers: handshakeHeaders(origin, context, [HEADERS.network, network, HEADERS.principal, internalToken]),
    });
    const giveUp = (): void => void request.destroy(new Error('the upgrade was not answered in time'));
    let deadline = setTimeout(giveUp, EDGE_LIMITS.connectTimeoutMs);
    request.once('socket', (socket) =>
      socket.once('connect', () => {
        wasConnected = true;
        clearTimeout(deadline);
        deadline = setTimeout(giveUp, SERVICE_LIMITS.internalCallTimeoutMs);
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
      readBounded(reply, EDGE_LIMITS.refusalBytesMax).then((body) => resolve({ agreed: false, reply, body }), fail);
    });
    request.end();
  });
}

function handshakeHeaders(origin: URL, { headers, requestId }: RequestContext, caller: readonly string[]): string[] {
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
    ...caller,
    ...headers.onward,
  ];
}
