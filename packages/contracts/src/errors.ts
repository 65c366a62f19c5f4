import { LIMITS } from './limits.ts';

/**
 * Every error a caller can meet, in one table. `code` is the public, stable name; `error` is the short public text;
 * what went wrong inside travels only in `cause` and in logs.
 */
interface ErrorRow {
  readonly status: number;
  readonly error: string;
  /**
   * One sentence for whoever meets it: when it is given, and what to do. It stands in the description, and as `message` in
   * an answer about which nothing more exact is known.
   */
  readonly when: string;
  /** True when the same request may succeed later without a change. */
  readonly retryable?: true;
}

const row = (status: number, error: string, when: string, retryable?: 'retryable'): ErrorRow => ({
  status,
  error,
  when,
  ...(retryable ? { retryable: true } : {}),
});

export const ERRORS = {
  // 400: the request itself is wrong
  malformed_request: row(
    400,
    'Malformed request',
    'The address or the headers cannot be read, or could be read in two ways.',
  ),
  malformed_json: row(400, 'Malformed JSON', 'The body is no JSON text in UTF-8, or is nested too deep.'),
  validation_failed: row(400, 'Validation failed', 'Something in the request is not as described.'),
  unsupported_api_version: row(400, 'Unsupported Api-Version', '`Api-Version` names a version that is not served.'),

  // 401: who are you (the texts are fixed by section 5 and 7 of the specification)
  authorization_required: row(
    401,
    'Authorization header required',
    'Send `Authorization: Bearer` and an API key or the token of a signed-in user.',
  ),
  authorization_malformed: row(
    401,
    'Invalid authorization format',
    'Send one `Authorization` header: `Bearer`, a blank, and an API key or the token of a signed-in user.',
  ),
  api_key_invalid: row(401, 'Invalid API key', 'The key is wrong, revoked or expired: use another one.'),
  token_invalid: row(401, 'Invalid token', 'The token is wrong or expired: sign in again.'),

  // 402-409: you may not, it is not there, it is not so
  insufficient_scope: row(403, 'Insufficient scope', 'The credential lacks the scope; use another one.'),
  forbidden: row(403, 'Forbidden', 'Your role, or what the credential is limited to, does not allow it.'),
  wrong_address: row(
    403,
    'This invitation is for another address',
    'Sign in with the e-mail address it was made for, or ask for one for yours.',
  ),
  not_found: row(404, 'Not found', 'There is nothing of that name, or nothing you may see.'),
  method_not_allowed: row(405, 'Method not allowed', 'The address has other methods; `Allow` lists them.'),
  request_timeout: row(
    408,
    'Request took too long to arrive',
    'The whole request did not come in time: send it again, faster.',
    'retryable',
  ),
  conflict: row(409, 'Conflict', 'It does not go together with what is there.'),
  slug_taken: row(409, 'This urlKey is taken', 'Another workspace has this name in addresses; choose another.'),
  last_owner: row(409, 'A workspace keeps at least one owner', 'Make somebody else an owner first.'),
  bootstrap_required: row(409, 'BOOTSTRAP_REQUIRED', 'The place is not in the log any more: load everything anew.'),
  idempotency_in_flight: row(
    409,
    'A request with this Idempotency-Key is still running',
    'The first request with this key has no answer yet: ask again in a moment.',
    'retryable',
  ),
  invitation_expired: row(
    410,
    'This invitation has expired',
    'It was used, its time is over, or you lost your place after it was made: ask for a new one.',
  ),

  // 413-431: the shape of the message
  payload_too_large: row(413, 'Payload too large', 'The body is larger than the operation takes: send less at a time.'),
  unsupported_media_type: row(
    415,
    'Unsupported media type',
    'The body is not `application/json` in UTF-8, or is compressed.',
  ),
  expectation_failed: row(417, 'Expectation failed', '`Expect` asks for something else than `100-continue`.'),
  idempotency_mismatch: row(
    422,
    'This Idempotency-Key was used with another request',
    'A new request needs a new key; the same request has the same address and body.',
  ),
  upgrade_required: row(426, 'Upgrade required', 'The address takes WebSocket handshakes of version 13 only.'),
  rate_limited: row(429, 'Too many requests', 'Wait for the seconds of `Retry-After`.', 'retryable'),
  headers_too_large: row(
    431,
    'Request headers too large',
    'The address or the headers are longer than is taken: send less.',
  ),

  // 5xx: us. A cause is never shown.
  internal: row(500, 'Internal error', 'A fault of ours; it is in our logs under `requestId`.'),
  unavailable: row(
    503,
    'Service unavailable',
    'Something the answer needs is away; wait for the seconds of `Retry-After`.',
    'retryable',
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** Body of every error answer: section 7 of the specification, no other property. */
export interface ErrorBody {
  readonly error: string;
  readonly ok: false;
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly message?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

export const errorBodySchema = {
  type: 'object',
  description: 'Every error answer has this body and no other property.',
  additionalProperties: false,
  required: ['error', 'ok', 'statusCode'],
  properties: {
    error: { type: 'string', description: 'What went wrong: short and stable.' },
    ok: { type: 'boolean', const: false, description: 'Always false in an error.' },
    statusCode: { type: 'number', description: 'The HTTP status.' },
    code: { type: 'string', enum: ERROR_CODES, description: 'Stable name of the error, for programs.' },
    message: { type: 'string', description: 'What to change, for a person; names the field at fault.' },
    requestId: { type: 'string', description: 'Quote this when asking for help.' },
    retryAfterSeconds: { type: 'number', description: 'Seconds until the same request may succeed.' },
  },
} as const;

interface FaultOptions {
  /** Public: says what to change. Never SQL, hosts or internals. */
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** Extra response headers, such as Allow or WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Internal: for logs only. */
  readonly cause?: unknown;
}

/** An expected failure. Anything else thrown is a bug and is answered as `internal`. */
export class Fault extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: FaultOptions = {}) {
    super(options.message ?? ERRORS[code].error, { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.publicMessage = options.message;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (code === 'unavailable' ? 1 : undefined);
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Spread over a few seconds, so that those who were refused together do not come back together. */
export function comeAgainSeconds(): number {
  return 1 + Math.floor(Math.random() * LIMITS.comeAgainSecondsMax);
}

/** What to do about it, in plain text. A message that repeats `error` says nothing, and the table knows better. */
function messageOf({ code, publicMessage }: Fault, error: string): string {
  return publicMessage === undefined || publicMessage === error ? ERRORS[code].when.replaceAll('`', '') : publicMessage;
}

/**
 * The one rendering of a failure for the outside. A bug shows nothing of itself.
 * Keeps errors.shape.fields, errors.5xx.no-cause.
 */
export function errorBody(failure: unknown, requestId?: string): ErrorBody {
  const fault = failure instanceof Fault ? failure : new Fault('internal');
  const { error } = ERRORS[fault.code];
  return {
    error,
    ok: false,
    statusCode: fault.status,
    code: fault.code,
    message: messageOf(fault, error),
    ...(requestId === undefined ? {} : { requestId }),
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds }),
  };
}
