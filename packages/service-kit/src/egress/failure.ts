/** Stable names of what ends a request without an answer. */
export type EgressError =
  | 'dns_error'
  | 'blocked_address'
  | 'connection_refused'
  | 'connection_reset'
  | 'connect_timeout'
  | 'tls_error'
  | 'timeout'
  | 'invalid_response';

/** Why a request ended without an answer. The cause is for the log: it may name addresses, which are never shown. */
export class EgressFailure extends Error {
  readonly reason: EgressError;

  constructor(reason: EgressError, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.reason = reason;
  }
}

const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);
const REFUSED_CODES = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM']);
/** What Node and OpenSSL call a fault of the protocol, and a certificate they do not accept. */
const TLS_CODE =
  /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_CERT|INVALID_CA|PATH_LENGTH|HOSTNAME_|CRL_)/;

/** The stable code for what Node or undici reports about a connection; `otherwise` for what it does not know. */
export function reasonOf(error: unknown, otherwise: EgressError): EgressError {
  if (error instanceof EgressFailure) return error.reason;
  const code = codeOf(error);
  if (REFUSED_CODES.has(code)) return 'connection_refused';
  if (code === 'ETIMEDOUT') return 'connect_timeout';
  if (TLS_CODE.test(code)) return 'tls_error';
  // undici uses one code for a connection that ended and for an answer that is no answer to a request.
  if (RESET_CODES.has(code) && !(error as Error).message.startsWith('bad ')) return 'connection_reset';
  return otherwise;
}

/** Whether the connection ended, rather than brought something that is wrong. */
export function isReset(error: unknown): boolean {
  return reasonOf(error, 'invalid_response') === 'connection_reset';
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? '';
}
