import {
  COMMON_ERRORS,
  CREDENTIAL_ERRORS,
  ERRORS,
  Fault,
  SUPPORTED_API_VERSIONS,
  errorBody,
  errorBodySchema,
  errorsOf,
} from '@wts/contracts';
import type { Contract, ErrorCode, Examples } from '@wts/contracts';
import type { Schemas } from './schemas.ts';

type Json = Record<string, unknown>;

export const RESPONSE_HEADERS = {
  ApiVersion: {
    description: 'The API version of this answer.',
    required: true,
    schema: { type: 'string', enum: SUPPORTED_API_VERSIONS },
  },
  RequestId: {
    description: 'Identifies this request in the server logs. It is your own `X-Request-Id` when you sent a valid one.',
    required: true,
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds until the same request may succeed.', schema: { type: 'integer' } },
  IdempotencyReplayed: {
    description: 'This is the first answer to the same Idempotency-Key, repeated.',
    schema: { type: 'string', enum: ['true'] },
  },
  RateLimitPolicy: {
    description: 'The rate limits of this operation: requests (`q`) in a window of seconds (`w`).',
    schema: { type: 'string', examples: ['"rest";q=30000;w=60'] },
  },
  RateLimit: {
    description:
      'Requests left (`r`), and seconds until the window resets (`t`). `X-RateLimit-Limit`, `-Remaining` and `-Reset` show the tightest limit.',
    schema: { type: 'string', examples: ['"rest";r=29999;t=60'] },
  },
  ETag: { description: 'Identifies this version of the answer, for `If-None-Match`.', schema: { type: 'string' } },
  Challenge: { description: 'How to authenticate (RFC 6750).', schema: { type: 'string' } },
} as const;

const header = (name: keyof typeof RESPONSE_HEADERS): Json => ({ $ref: `#/components/headers/${name}` });

const COMMON_HEADERS = { 'Api-Version': header('ApiVersion'), 'X-Request-Id': header('RequestId') };
const NOT_MODIFIED = {
  description: 'The answer has not changed since you got the `ETag` that you sent in `If-None-Match`.',
  headers: { ...COMMON_HEADERS, ETag: header('ETag') },
};
const RATE_HEADERS = { 'RateLimit-Policy': header('RateLimitPolicy'), RateLimit: header('RateLimit') };
/** Headers of deprecated operations; written in place, because most of the time there are none. */
const DEPRECATION_HEADERS = {
  Deprecation: {
    description: 'When the operation became deprecated: an HTTP date.',
    schema: { type: 'string', examples: ['Sun, 01 Nov 2026 00:00:00 GMT'] },
  },
  Sunset: {
    description: 'The earliest date it may be removed (RFC 8594).',
    schema: { type: 'string', examples: ['Mon, 01 Mar 2027 00:00:00 GMT'] },
  },
  Link: {
    description: 'With `rel="deprecation"`: a page about what to use instead.',
    schema: { type: 'string', examples: ['<https://docs.example.com/x>; rel="deprecation"; type="text/html"'] },
  },
};

/** What decides about the headers of an answer besides the contract. */
interface AnswerNotes {
  readonly isRated: boolean;
  readonly isDeprecated: boolean;
}

/** Describes the answers of operations. Answers of several operations are in `shared`, and the operations refer to them. */
export class Responses {
  readonly shared: Json = {};
  /** One for each shared error. */
  readonly examples: Json = {};
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  of(contract: Contract, notes: AnswerNotes): Json {
    const byStatus = Map.groupBy(errorsOf(contract), (code) => ERRORS[code].status);
    const errors = [...byStatus].sort(([one], [other]) => one - other);
    return {
      [contract.reply.status]: this.#success(contract, notes),
      ...(contract.revalidated ? { 304: NOT_MODIFIED } : {}),
      ...Object.fromEntries(errors.map(([status, codes]) => [status, this.#failure(contract, status, codes)])),
    };
  }

  #success({ reply, idempotencyKey, revalidated }: Contract, { isRated, isDeprecated }: AnswerNotes): Json {
    const {
      status,
      description = '',
      contentType = 'application/json',
      negotiatedType,
      schema,
      example,
      examples,
    } = reply;
    const headers = {
      ...COMMON_HEADERS,
      ...(isRated ? RATE_HEADERS : {}),
      ...(isDeprecated ? DEPRECATION_HEADERS : {}),
      ...(revalidated ? { ETag: header('ETag') } : {}),
      ...(idempotencyKey ? { 'Idempotency-Replayed': header('IdempotencyReplayed') } : {}),
    };
    // A socket has no body.
    if (status === 101) return { description, headers };
    const content = { schema: this.#schemas.refer(schema), ...shown(example, examples) };
    const negotiated = negotiatedType === undefined ? {} : { [negotiatedType]: content };
    return { description, headers, content: { [contentType]: content, ...negotiated } };
  }

  #failure({ id, reply }: Contract, status: number, codes: readonly ErrorCode[]): Json {
    const { negotiatedType, schema, refusalExample } = reply;
    const name = this.#share(status, codes);
    if (status !== 400 || negotiatedType === undefined) return { $ref: `#/components/responses/${name}` };
    const common = this.shared[name] as { readonly content: Json };
    const refusal = { schema: this.#schemas.refer(schema), example: refusalExample };
    this.shared[`${name}.${id}`] = { ...common, content: { ...common.content, [negotiatedType]: refusal } };
    return { $ref: `#/components/responses/${name}.${id}` };
  }

  /** Named by its status and the error codes that not every operation has with that status. */
  #share(status: number, codes: readonly ErrorCode[]): string {
    const own = codes.filter((code) => !USUAL.has(code));
    const name = [status, ...own].join('.');
    const example = own[0] ?? codes[0];
    if (example === undefined) throw new Error(`Status ${status} has no error code`);
    this.examples[example] ??= errorExample(example);
    this.shared[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].error}. ${ERRORS[code].when}`).join('\n\n'),
      headers: {
        ...COMMON_HEADERS,
        ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
        ...(status === 429 ? RATE_HEADERS : {}),
        // Also 403: `insufficient_scope` names the scope there.
        ...(status === 401 || status === 403 ? { 'WWW-Authenticate': header('Challenge') } : {}),
      },
      content: {
        'application/json': {
          schema: this.#schemas.refer(errorBodySchema),
          examples: { [example]: { $ref: `#/components/examples/${example}` } },
        },
      },
    };
    return name;
  }
}

const USUAL: ReadonlySet<ErrorCode> = new Set([...COMMON_ERRORS, ...CREDENTIAL_ERRORS]);

/** One example, or several by name. */
export function shown(example: unknown, examples: Examples | undefined): Json {
  if (examples !== undefined) return { examples };
  return example === undefined ? {} : { example };
}

/** Details of example errors whose message is not the default one. */
const EXAMPLES: Partial<Record<ErrorCode, ConstructorParameters<typeof Fault>[1]>> = {
  validation_failed: { message: 'body/name must have at most 100 characters' },
  insufficient_scope: { message: 'This operation needs the scope admin.' },
  forbidden: { message: 'This needs the role owner or admin in the workspace; yours is guest.' },
  rate_limited: { retryAfterSeconds: 7 },
};

function errorExample(code: ErrorCode): Json {
  return {
    summary: ERRORS[code].error,
    value: errorBody(new Fault(code, EXAMPLES[code]), '0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90'),
  };
}
