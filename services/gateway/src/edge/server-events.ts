import type { RequestListener, Server } from 'node:http';
import { Fault } from '@wts/contracts';
import type { EdgeParts } from './edge.ts';
import { RequestContext } from './request-context.ts';
import { refuseOnSocket } from './socket-proxy.ts';

/**
 * Only an offer of WebSocket is an upgrade. Any other offer, such as the `h2c` some clients make on every request, is
 * one that a server may pass over (RFC 9110 section 7.8): the request is answered as if it had not been made.
 */
export function takeOnlyWebSockets(server: Server): void {
  const options = server as Server & { shouldUpgradeCallback: (req: { headers: { upgrade?: string } }) => boolean };
  options.shouldUpgradeCallback = ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket';
}

/** A body that is held back is asked for only when somebody will read it: after credentials, scope and size were judged. */
export function askForBodiesLate(server: Server, listener: RequestListener): void {
  server.on('checkContinue', listener);
}

/** Node gives CONNECT, which asks for a tunnel, an event of its own. It is a method like any other that is not served. */
export function refuseConnect(server: Server, parts: EdgeParts): void {
  server.on('connect', (req, socket) => {
    const context = new RequestContext(req, parts.securityHeaders);
    refuseOnSocket(
      context,
      socket,
      new Fault('method_not_allowed', { headers: { Allow: 'GET, POST, PATCH, DELETE' } }),
      parts,
    );
  });
}
