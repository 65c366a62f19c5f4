import type { IncomingMessage } from 'node:http';
import { HEADERS } from '@wts/contracts';
import { browserWords } from '../domain/browser-words.ts';
import type { Visitor } from '../domain/security-event.ts';

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
