import type { IncomingMessage } from 'node:http';
import { HEADERS } from '@wts/contracts';

/** The network of the client, as the gateway counts it. */
export function networkOf({ headers, socket }: IncomingMessage): string {
  const { [HEADERS.network]: network } = headers;
  return typeof network === 'string' ? network : (socket.remoteAddress ?? '');
}
