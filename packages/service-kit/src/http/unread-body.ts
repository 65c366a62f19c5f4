import type { IncomingMessage } from 'node:http';

/** The rest of a body up to this size is read and dropped, and the connection stays open. */
const DROPPED_BYTES_MAX = 64 * 1024;
/** A longer rest is read and dropped for this long, so that the client can read the reply before the connection closes. */
const LINGER_MS = 1_000;

/** RFC 9112 section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Whether the unread rest of the body is too large to read it for reusing the connection. */
export function hasLargeUnreadBody(req: IncomingMessage): boolean {
  return !req.complete && hasBody(req) && !(Number(req.headers['content-length']) <= DROPPED_BYTES_MAX);
}

/**
 * A lingering close of the connection after this reply. When a socket is closed while its peer still sends, the kernel sends a
 * reset, which may overtake the reply. So this side is closed first, then the rest is read and dropped for LINGER_MS, and then
 * the socket is destroyed.
 */
export function closeWithLinger(req: IncomingMessage): void {
  const { socket } = req;
  if (socket === null || socket.destroyed) return;
  socket.destroySoon = () => {
    socket.end();
    req.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
