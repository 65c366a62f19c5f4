import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { readBounded } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import { Client, type buildConnector } from 'undici';
import { openConnector, type ConnectOptions } from './connect.ts';
import type { Target } from './target.ts';

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Bounds everything: resolving, connecting, and the whole answer. */
  readonly signal: AbortSignal;
  readonly bytesMax: number;
}

export interface GuardedAnswer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  /** Null when it has more than `bytesMax` bytes. */
  readonly body: Buffer | null;
}

export type SendGuarded = (target: Target, request: GuardedRequest) => Promise<GuardedAnswer>;

/**
 * Sends a request to a public address on a connection of its own, and reads the whole answer: without redirects, proxies, cookies and
 * decompression. For documents and answers of other services; webhooks keep their connections, see `webhook-dispatcher/src/attempt`.
 */
export function openGuardedRequests(options: ConnectOptions): SendGuarded {
  const connect = openConnector(options);
  return async (target, { bytesMax, signal, method, headers, body = null }) => {
    const client = new Client(target.origin, {
      connect: undiciConnector(() => connect(target, { signal, onPhase: () => undefined })),
      allowH2: false,
      maxHeaderSize: LIMITS.headerBytes,
    });
    try {
      const answer = await client.request({ method, path: target.path, headers, body, signal });
      return { statusCode: answer.statusCode, headers: answer.headers, body: await bodyOf(answer.body, bytesMax) };
    } finally {
      await client.destroy();
    }
  };
}

/** Gives undici a connection that the guard has made. */
export function undiciConnector(connect: () => Promise<TLSSocket>): buildConnector.connector {
  return (_, callback) => void connectInto(connect, callback);
}

async function connectInto(connect: () => Promise<TLSSocket>, callback: buildConnector.Callback): Promise<void> {
  let socket: TLSSocket;
  try {
    socket = await connect();
  } catch (error) {
    callback(error as Error, null);
    return;
  }
  callback(null, socket);
}

async function bodyOf(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | null> {
  try {
    return await readBounded(body, bytesMax);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
