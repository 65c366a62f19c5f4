import type { IncomingMessage } from 'node:http';
import { HEADERS } from '@wts/contracts';
import { browserWords } from '../domain/browser-words.ts';
import type { Visitor } from '../domain/security-event.ts';

/** The cell that asks: its gateway for a client, or one of its services. */
export function shardOf({ headers }: IncomingMessage): number {
  return Number(headers[HEADERS.shard] ?? 0);
}

/** The network of the client, as the gateway counts it. */
export function networkOf({ headers, socket }: IncomingMessage): string {
  const { [HEADERS.network]: network } = headers;
  return typeof network === 'string' ? network : (socket.remoteAddress ?? '');
}

const CALLING_SERVICE = /^wts-(graph|agent|workspace|gateway|sync)$/;

/** Where a request came from, for the security record. A service that calls for a person says its own name, which is left out. */
export function visitorOf({ req, requestId }: { readonly req: IncomingMessage; readonly requestId: string }): Visitor {
  const { [HEADERS.network]: network, 'user-agent': userAgent } = req.headers;
  return {
    network: typeof network === 'string' ? network : null,
    browser: CALLING_SERVICE.test(userAgent ?? '') ? null : browserWords(userAgent),
    requestId,
  };
}
