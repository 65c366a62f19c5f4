import type { IncomingMessage } from 'node:http';

/** The rest of a body up to this size is read and dropped, and the connection is used again. */
const DROPPED_BYTES_MAX = 64 * 1024;
/** A longer rest is read and dropped for so long, so that the client can read the answer before the connection ends. */
const LINGER_MS = 1_000;

/** RFC 9112 section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Whether more of the body is still to come than is worth reading. */
export function hasLargeUnreadBody(req: IncomingMessage): boolean {
  return !req.complete && hasBody(req) && !(Number(req.headers['content-length']) <= DROPPED_BYTES_MAX);
}

/**
 * Makes the connection end gently with this answer. Closing a socket whose peer still sends makes the kernel answer with a
 * reset, and a reset may overtake the answer. So the end of our side is sent first, then the rest is read and dropped for a
 * moment, and then the connection is cut.
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
