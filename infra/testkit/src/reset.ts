import type { Socket } from 'node:net';

/**
 * Breaks a connection: its other end gets a reset. A connection whose end is being sent cannot be reset. Node would then keep the
 * socket open without an owner, and the process could never exit: it would wait for that socket in an endless loop after its last
 * event. Such a connection is only closed.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded && socket.writableLength === 0) socket.destroy();
  else socket.resetAndDestroy();
}
