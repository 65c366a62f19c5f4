import { SyncError } from '@wts/client';

const CODE =
  /^(E(CONN|PIPE|HOSTUNREACH|TIMEDOUT)|UND_ERR|08|57|CONNECTION_(REFUSED|CLOSED|TIMEOUT)$|(DISCONNECT|TIMEOUT|503)$)/;
const MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|terminated$|timeout expired|Query read timeout|fetch failed)|answered 503\b/;

/**
 * True when a server is unavailable: the connection was lost or refused, the database is starting or stopping (SQLSTATE
 * classes 08 and 57), the broker is down, or a service answers 503. Any other error is a bug.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof SyncError) return isOutageOfServer(error);
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return CODE.test(code) || MESSAGE.test(message);
}

/** A client that gave up after several attempts names the last of them as the cause. */
function isOutageOfServer({ code, status, cause }: SyncError): boolean {
  if (code === 'deadline_exceeded' && cause instanceof SyncError) return isOutageOfServer(cause);
  return code === 'connection_failed' || code === 'deadline_exceeded' || status === 503;
}
