/**
 * Every error a caller can meet, in one table. `code` is the public, stable name; `error` is the short public text;
 * what went wrong inside travels only in `cause` and in logs.
 */
interface ErrorRow {
  readonly status: number;
  readonly error: string;
  /** True when the same request may succeed later without a change. */
  readonly retryable?: true;
}

const row = (status: number, error: string, retryable?: 'retryable'): ErrorRow =>
  retryable ? { status, error, retryable: true } : { status, error };

export const ERRORS = {
  // 400: the request itself is wrong
  malformed_request: row(400, 'Malformed request'),
  malformed_json: row(400, 'Malformed JSON'),
  validation_failed: row(400, 'Validation failed'),
  unsupported_api_version: row(400, 'Unsupported Api-Version'),

  // 401: who are you (the texts are fixed by section 5 and 7 of the specification)
  authorization_required: row(401, 'Authorization header required'),
  authorization_malformed: row(401, 'Invalid authorization format'),
  api_key_invalid: row(401, 'Invalid API key'),
  token_invalid: row(401, 'Invalid token'),

  // 402-409: you may not, it is not there, it is not so
  insufficient_scope: row(403, 'Insufficient scope'),
  forbidden: row(403, 'Forbidden'),
  wrong_address: row(403, 'This invitation is for another address'),
  not_found: row(404, 'Not found'),
  method_not_allowed: row(405, 'Method not allowed'),
  request_timeout: row(408, 'Request took too long to arrive', 'retryable'),
  conflict: row(409, 'Conflict'),
  slug_taken: row(409, 'This urlKey is taken'),
  last_owner: row(409, 'A workspace keeps at least one owner'),
  bootstrap_required: row(409, 'BOOTSTRAP_REQUIRED'),
  idempotency_in_flight: row(409, 'A request with this Idempotency-Key is still running', 'retryable'),
  invitation_expired: row(410, 'This invitation has expired'),

  // 413-431: the shape of the message
  payload_too_large: row(413, 'Payload too large'),
  unsupported_media_type: row(415, 'Unsupported media type'),
  expectation_failed: row(417, 'Expectation failed'),
  idempotency_mismatch: row(422, 'This Idempotency-Key was used with another request'),
  upgrade_required: row(426, 'Upgrade required'),
  rate_limited: row(429, 'Too many requests', 'retryable'),
  headers_too_large: row(431, 'Request headers too large'),

  // 5xx: us. A cause is never shown.
  internal: row(500, 'Internal error'),
  unavailable: row(503, 'Service unavailable', 'retryable'),
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
    error: { type: 'string', description: 'Short, stable text.' },
    ok: { type: 'boolean', const: false },
    statusCode: { type: 'number', description: 'The HTTP status.' },
    code: { type: 'string', enum: ERROR_CODES, description: 'Stable name of the error.' },
    message: { type: 'string', description: 'What to change, for a person.' },
    requestId: { type: 'string', description: 'Quote this when asking for help.' },
    retryAfterSeconds: { type: 'number', description: 'When to try again.' },
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

/**
 * The one rendering of a failure for the outside. A bug shows nothing of itself.
 * Keeps errors.shape.fields, errors.5xx.no-cause.
 */
export function errorBody(failure: unknown, requestId?: string): ErrorBody {
  const fault = failure instanceof Fault ? failure : new Fault('internal');
  return {
    error: ERRORS[fault.code].error,
    ok: false,
    statusCode: fault.status,
    code: fault.code,
    ...(fault.publicMessage === undefined ? {} : { message: fault.publicMessage }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds }),
  };
}
