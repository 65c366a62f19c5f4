import { LIMITS } from './limits.ts';

/**
 * Every error that a caller can get, in one table. `code` is the public, stable name; `error` is the short public text; internal
 * causes are only in `cause` and in logs.
 */
interface ErrorRow {
  readonly status: number;
  readonly error: string;
  /**
   * What the caller should know or do. It is in the description, and is the `message` of a fault without a message of its own.
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
    'The URL, the headers or the chunks of the body cannot be parsed or are ambiguous, or the chunks are too many.',
  ),
  malformed_json: row(400, 'Malformed JSON', 'The body is not valid JSON in UTF-8, or is nested too deeply.'),
  validation_failed: row(400, 'Validation failed', 'The request does not match the API description.'),
  unsupported_api_version: row(400, 'Unsupported Api-Version', '`Api-Version` names a version that is not supported.'),

  // 400: OAuth. RFC 6749 section 5.2, RFC 7591 section 3.2.2 and RFC 8707 section 2 fix the texts. Keeps
  // authentication.oauth.invalid-grant and authentication.oauth.unsupported-grant.
  invalid_request: row(400, 'invalid_request', 'A parameter is missing, repeated or malformed.'),
  invalid_grant: row(
    400,
    'invalid_grant',
    'The code, its verifier or the refresh token is wrong, expired, used or revoked. Start a new authorization.',
  ),
  unauthorized_client: row(400, 'unauthorized_client', 'The client is not registered for this grant.'),
  unsupported_grant_type: row(
    400,
    'unsupported_grant_type',
    'The `grant_type` is neither `authorization_code` nor `refresh_token`.',
  ),
  invalid_scope: row(400, 'invalid_scope', 'The scope is more than what was granted.'),
  invalid_target: row(400, 'invalid_target', 'The resource is none that was granted.'),
  invalid_redirect_uri: row(400, 'invalid_redirect_uri', 'A redirect URI is missing or not allowed.'),
  invalid_client_metadata: row(400, 'invalid_client_metadata', 'The metadata of the client is not as it should be.'),

  // 401: the credential (the texts are fixed by section 5 and 7 of the specification)
  authorization_required: row(401, 'Authorization header required', 'Send `Authorization: Bearer <API key or token>`.'),
  authorization_malformed: row(
    401,
    'Invalid authorization format',
    'Send exactly one Authorization header: `Bearer <API key or token>`.',
  ),
  api_key_invalid: row(401, 'Invalid API key', 'The API key is wrong, revoked or expired. Use another key.'),
  token_invalid: row(401, 'Invalid token', 'The token is wrong or expired. Sign in again.'),

  invalid_client: row(401, 'invalid_client', 'The client is unknown, or its secret is wrong. Register it again.'),

  // 402: a quota
  endpoint_limit_reached: row(
    402,
    'Webhook endpoint limit reached',
    `A workspace has at most ${LIMITS.webhookEndpointsMax} webhook endpoints. Delete one first.`,
  ),

  // 403-410: not allowed, not found, in conflict
  insufficient_scope: row(
    403,
    'Insufficient scope',
    'The credential lacks the scope that this operation needs. Use another credential.',
  ),
  forbidden: row(403, 'Forbidden', 'Your role, or a restriction on this credential, does not allow this.'),
  second_factor_required: row(
    403,
    'Second factor required',
    'A workspace of yours, or this service, requires a second factor. Add one on the page of your account; your API keys and apps work again then.',
  ),
  wrong_address: row(
    403,
    'This invitation is for another address',
    'Sign in with the e-mail address the invitation was made for, or ask for a new invitation.',
  ),
  not_found: row(404, 'Not found', 'It does not exist, or you do not have access to it.'),
  method_not_allowed: row(
    405,
    'Method not allowed',
    'This path does not support this method. The `Allow` header lists the supported ones.',
  ),
  not_acceptable: row(
    406,
    'Not acceptable',
    'The `Accept` header allows no media type of this operation. Send `application/json`.',
  ),
  request_timeout: row(
    408,
    'Request took too long to arrive',
    'The request took too long to arrive. Send it again.',
    'retryable',
  ),
  conflict: row(409, 'Conflict', 'The request conflicts with the current state.'),
  record_archived: row(409, 'It is archived', 'It is archived, or belongs to a task in the Trash. Restore it first.'),
  workspace_archived: row(
    409,
    'The workspace is deleted',
    `The workspace is deleted, and can be read only. Its owners can restore it within ${LIMITS.workspaceTrashDays} days.`,
  ),
  slug_taken: row(409, 'This urlKey is taken', 'Another workspace already has this `urlKey`. Choose another.'),
  last_owner: row(409, 'A workspace keeps at least one owner', 'Make another member an owner first.'),
  bootstrap_required: row(
    409,
    'BOOTSTRAP_REQUIRED',
    'This cursor is not in the log: it is too old, or of another log. Run a bootstrap and continue from its `lastSyncId`.',
  ),
  idempotency_in_flight: row(
    409,
    'A request with this Idempotency-Key is still running',
    'The first request with this key has not been answered yet. Retry in a moment.',
    'retryable',
  ),
  invitation_expired: row(
    410,
    'This invitation has expired',
    'The invitation has expired, was used, or was made before you were removed or demoted. Ask for a new one.',
  ),

  // 413-431: the shape of the message
  payload_too_large: row(
    413,
    'Payload too large',
    'The body exceeds the limit of this operation. Send less at a time.',
  ),
  unsupported_media_type: row(
    415,
    'Unsupported media type',
    'The body is not `application/json` in UTF-8, or is compressed.',
  ),
  expectation_failed: row(417, 'Expectation failed', 'The only supported `Expect` value is `100-continue`.'),
  idempotency_mismatch: row(
    422,
    'This Idempotency-Key was used with another request',
    'Use a new key for a new request. A retry must have the same path and body.',
  ),
  upgrade_required: row(426, 'Upgrade required', 'This path accepts only WebSocket handshakes of version 13.'),
  rate_limited: row(429, 'Too many requests', 'Retry after the number of seconds in `Retry-After`.', 'retryable'),
  headers_too_large: row(431, 'Request headers too large', 'The URL or the headers exceed the limit. Send less.'),

  // 5xx: the server. A cause is never shown.
  internal: row(500, 'Internal error', 'Something went wrong on the server. Quote `requestId` when you report it.'),
  unavailable: row(
    503,
    'Service unavailable',
    'A dependency is unavailable. Retry after the number of seconds in `Retry-After`.',
    'retryable',
  ),
  webhooks_not_configured: row(
    503,
    'Webhooks are not configured',
    'Webhooks are not set up here. Ask the operator to set `WEBHOOK_SECRET_KEY`.',
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
    message: { type: 'string', description: 'What is wrong and what to do, for people; names the field at fault.' },
    requestId: { type: 'string', description: 'Quote this when asking for help.' },
    retryAfterSeconds: { type: 'number', description: 'Seconds until the same request may succeed.' },
  },
} as const;

interface FaultOptions {
  /** Public: what to change. Never SQL, hosts or internals. */
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** Extra response headers, such as Allow or WWW-Authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Internal: for logs only. */
  readonly cause?: unknown;
}

/** An expected failure. Any other thrown value is a bug, which is rendered as `internal`. */
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

/** A random time of a few seconds, so that clients that were refused together do not retry together. */
export function randomRetryAfterSeconds(): number {
  return 1 + Math.floor(Math.random() * LIMITS.retryAfterSecondsMax);
}

/** A message that only repeats `error` is replaced by the text of the table. */
function messageOf({ code, publicMessage }: Fault, error: string): string {
  return publicMessage === undefined || publicMessage === error ? ERRORS[code].when.replaceAll('`', '') : publicMessage;
}

/**
 * The body of an error reply. A bug shows no internals.
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
