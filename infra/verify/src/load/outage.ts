const CODE = /^(E(CONN|PIPE)|UND_ERR|08|57|CONNECTION_(REFUSED|CLOSED|TIMEOUT)$|(DISCONNECT|TIMEOUT|503)$)/;
const MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|terminated$|timeout expired|Query read timeout|fetch failed)|answered 503\b/;

/**
 * True when the other side is away, or went away in the middle: a connection that was lost or refused, a database that is
 * starting or stopping (SQLSTATE classes 08 and 57), a broker that is gone, a service that says so. Anything else is a fault.
 */
export function isOutage(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return CODE.test(code) || MESSAGE.test(message);
}
