import {
  COMMON_ERRORS,
  CREDENTIAL_ERRORS,
  ERRORS,
  Fault,
  IDEMPOTENCY_ERRORS,
  SUPPORTED_API_VERSIONS,
  errorBody,
  errorBodySchema,
} from '@wts/contracts';
import type { Contract, ErrorCode } from '@wts/contracts';
import type { Schemas } from './schemas.ts';

type Json = Record<string, unknown>;

export const RESPONSE_HEADERS = {
  ApiVersion: {
    description: 'The version that answered.',
    required: true,
    schema: { type: 'string', enum: SUPPORTED_API_VERSIONS },
  },
  RequestId: {
    description: 'Names this request in our logs: yours, when you sent a well-formed `X-Request-Id`.',
    required: true,
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds until the same request may succeed.', schema: { type: 'integer' } },
  IdempotencyReplayed: {
    description: 'This answer was given before, to the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Challenge: { description: 'How to authenticate (RFC 6750).', schema: { type: 'string' } },
} as const;

const COMMON_HEADERS = {
  'Api-Version': { $ref: '#/components/headers/ApiVersion' },
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
};

/** What an operation may answer. Answers that several operations share stand in `shared`, and each refers to them. */
export class Responses {
  readonly shared: Json = {};
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  of(contract: Contract): Json {
    const byStatus = Map.groupBy(errorCodesOf(contract), (code) => ERRORS[code].status);
    const errors = [...byStatus].sort(([one], [other]) => one - other);
    return {
      [contract.reply.status]: this.#success(contract),
      ...Object.fromEntries(errors.map(([status, codes]) => [status, this.#failure(status, codes)])),
    };
  }

  #success({ reply, idempotencyKey }: Contract): Json {
    const { status, description = '', contentType = 'application/json', schema, example } = reply;
    const replayed = { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } };
    const headers = { ...COMMON_HEADERS, ...(idempotencyKey ? replayed : {}) };
    // A socket has no body.
    if (status === 101) return { description, headers };
    const content = { schema: this.#schemas.refer(schema), ...(example === undefined ? {} : { example }) };
    return { description, headers, content: { [contentType]: content } };
  }

  /** Named by its status and by what it may say beside what every operation may say with that status. */
  #failure(status: number, codes: readonly ErrorCode[]): Json {
    const name = [status, ...codes.filter((code) => !USUAL.has(code))].join('.');
    this.shared[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].error}. ${ERRORS[code].when}`).join('\n\n'),
      headers: {
        ...COMMON_HEADERS,
        ...(status === 429 || status === 503 ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
        ...(status === 401 ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
      },
      content: {
        'application/json': {
          schema: this.#schemas.refer(errorBodySchema),
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

const USUAL: ReadonlySet<ErrorCode> = new Set([...COMMON_ERRORS, ...CREDENTIAL_ERRORS]);

export function errorCodesOf(contract: Contract): ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...COMMON_ERRORS,
      ...(contract.scope === 'none' ? [] : CREDENTIAL_ERRORS),
      ...(contract.idempotencyKey ? IDEMPOTENCY_ERRORS : []),
      ...contract.errors,
    ]),
  ];
}

export function errorExample(code: ErrorCode): Json {
  const fault = new Fault(code, code === 'rate_limited' ? { retryAfterSeconds: 7 } : {});
  return {
    summary: ERRORS[code].error,
    value: errorBody(fault, '0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90'),
  };
}
