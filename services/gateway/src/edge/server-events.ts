import type { RequestListener, Server } from 'node:http';
import { Fault } from '@wts/contracts';
import type { EdgeParts } from './edge.ts';
import { RequestContext } from './request-context.ts';
import { refuseOnSocket } from './socket-proxy.ts';

/**
 * Treats only an offer of WebSocket as an upgrade. A server may ignore any other offer (RFC 9110 section 7.8), such as `h2c`,
 * which some clients send with every request, and must ignore all offers in HTTP/1.0; such a request is answered as usual.
 */
export function upgradeOnlyWebSockets(server: Server): void {
  type Offer = { readonly headers: { upgrade?: string }; readonly httpVersion: string };
  const options = server as Server & { shouldUpgradeCallback: (req: Offer) => boolean };
  options.shouldUpgradeCallback = ({ headers, httpVersion }) =>
    httpVersion !== '1.0' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Sends no `100 Continue` at the start: `boundBody` sends it after credential, scope and size were checked. */
export function delayContinue(server: Server, listener: RequestListener): void {
  server.on('checkContinue', listener);
}

/** Node emits an own event for CONNECT. The gateway refuses it like any other method that a path does not have. */
export function refuseConnect(server: Server, parts: EdgeParts): void {
  server.on('connect', (req, socket) => {
    const context = new RequestContext(req, parts);
    refuseOnSocket(
      context,
      socket,
      new Fault('method_not_allowed', { headers: { Allow: 'GET, POST, PATCH, DELETE' } }),
      parts,
    );
  });
}
