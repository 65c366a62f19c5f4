import type { ErrorCode } from './errors.ts';
import type { Scope } from './scopes.ts';
import type { InternalUse, ServiceName } from './services.ts';
import type { JsonSchema, TypeOf } from './type-of.ts';

/** Several examples, by name. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** The types of one operation, derived from its schemas. */
export interface Shape {
  params: unknown;
  query: unknown;
  body: unknown;
  reply: unknown;
}

/**
 * One HTTP operation as data. Routes are mounted from it, the gateway's route table and `/openapi.json` are derived
 * from it, and clients are typed by it. The phantom `shape` keeps type inference fast.
 */
export interface Contract<S extends Shape = Shape> {
  /** lowerCamel verb-noun, unique; the operationId of the description. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with `{name}` parameters. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag:
    | 'Workspaces'
    | 'API keys'
    | 'Webhooks'
    | 'GraphQL'
    | 'Sync'
    | 'Meta'
    | 'Agent'
    | 'Operator'
    | 'Internal';
  /** The scope a credential needs; `none` for a public operation. */
  readonly scope: Scope | 'none';
  /** Services that may call it on behalf of a person, besides the gateway. */
  readonly callers?: readonly ServiceName[];
  /** An internal operation is open to the named services only and is not in the description. */
  readonly internal?: InternalUse;
  /** A web page for browsers, which is not in the description. */
  readonly page?: true;
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** An example body, in the description and checked against the schema. */
  readonly bodyExample?: unknown;
  readonly bodyExamples?: Examples;
  readonly bodyBytesMax?: number;
  readonly bodyOptional?: true;
  /** The body is a `Form`, which only the handler judges. */
  readonly form?: true;
  /** The code of a body that cannot be read or differs from its schema, where a standard names the codes. */
  readonly bodyRefusal?: ErrorCode;
  /** A repeated request with the same `Idempotency-Key` gets the same reply. */
  readonly idempotencyKey?: true;
  /** Its reply has an `ETag`, and a request with it as `If-None-Match` gets 304. */
  readonly revalidated?: true;
  readonly reply: {
    readonly status: number;
    /** The result, in one sentence. */
    readonly description?: string;
    /** JSON unless stated, as every request body is. Keeps meta.bodies.json. */
    readonly contentType?: string;
    /** Another type of the same reply, for clients that accept it. With it, a refused operation has this schema and status 400. */
    readonly negotiatedType?: string;
    readonly refusalExample?: unknown;
    readonly schema: JsonSchema;
    readonly example?: unknown;
    readonly examples?: Examples;
  };
  /** Its own errors, besides those that `errorsOf` derives. */
  readonly errors?: readonly ErrorCode[];
  readonly shape?: S;
}

/** The parts of an operation that these services call at another one, for themselves. */
export const internalOf = (...callers: readonly ServiceName[]) =>
  ({ method: 'POST', tag: 'Internal', scope: 'none', internal: { callers, forItself: true } }) as const;

/**
 * Declares an operation. The types of its parameters, body and reply are derived from its schemas. See
 * infra/decisions/0015-types-from-schemas.md.
 */
export function contract<
  const Params extends JsonSchema = never,
  const Query extends JsonSchema = never,
  const Body extends JsonSchema = never,
  const Optional extends boolean = false,
  const Reply extends JsonSchema = never,
>(
  operation: Omit<Contract, 'params' | 'query' | 'body' | 'bodyOptional' | 'reply' | 'shape'> & {
    readonly params?: Params;
    readonly query?: Query;
    readonly body?: Body;
    readonly bodyOptional?: Optional;
    readonly reply: Omit<Contract['reply'], 'schema'> & { readonly schema: Reply };
  },
): Contract<{
  params: NothingOr<Params, Record<string, never>>;
  query: NothingOr<Query, Record<string, never>>;
  body: NothingOr<Body, undefined> | (Optional extends true ? undefined : never);
  reply: ReplyOfSchema<Reply>;
}> {
  return operation as Contract<never>;
}

/** An operation for browsers, which is not in the description. */
export function browserPage(
  operation: Pick<Contract, 'id' | 'path' | 'summary' | 'params'>,
  reply: Pick<Contract['reply'], 'status' | 'contentType'>,
): Contract {
  const common = { method: 'GET', tag: 'Meta', scope: 'none', page: true } as const;
  return { ...operation, ...common, reply: { ...reply, schema: { type: 'string' } } };
}

type NothingOr<Schema, Nothing> = [Schema] extends [never] ? Nothing : TypeOf<Schema>;

/** The handler of a text reply writes it and returns nothing. */
type ReplyOfSchema<Schema> = Schema extends { readonly type: 'string' } ? undefined : TypeOf<Schema>;

export type ParamsOf<C> = C extends Contract<infer S> ? S['params'] : never;
export type QueryOf<C> = C extends Contract<infer S> ? S['query'] : never;
export type BodyOf<C> = C extends Contract<infer S> ? S['body'] : never;
export type ReplyOf<C> = C extends Contract<infer S> ? S['reply'] : never;

/** The operations that a module of contracts exports. */
export function contractsOf(api: object): Contract[] {
  return Object.values(api).filter(isContract);
}

/** Whether something that a module of contracts exports is an operation. */
export function isContract(value: unknown): value is Contract {
  return typeof value === 'object' && value !== null && 'path' in value && 'reply' in value;
}

/** Errors of every operation. */
export const COMMON_ERRORS = [
  'malformed_request',
  'validation_failed',
  'unsupported_api_version',
  'not_found',
  'rate_limited',
  'headers_too_large',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** Errors of operations that need a credential. */
export const CREDENTIAL_ERRORS = [
  'authorization_required',
  'authorization_malformed',
  'api_key_invalid',
  'token_invalid',
  'insufficient_scope',
  'second_factor_required',
] as const satisfies readonly ErrorCode[];

/** Errors of operations with a body. */
const BODY_ERRORS = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Errors of operations that accept an `Idempotency-Key`. */
const IDEMPOTENCY_ERRORS = ['idempotency_in_flight', 'idempotency_mismatch'] as const satisfies readonly ErrorCode[];

/** Every error of this operation. */
export function errorsOf({ scope, internal, body, idempotencyKey, errors = [] }: Contract): ErrorCode[] {
  const needsCredential = scope !== 'none' || internal !== undefined;
  return [
    ...new Set<ErrorCode>([
      ...COMMON_ERRORS,
      ...(needsCredential ? CREDENTIAL_ERRORS : []),
      ...(body === undefined ? [] : BODY_ERRORS),
      ...(idempotencyKey ? IDEMPOTENCY_ERRORS : []),
      ...errors,
    ]),
  ];
}

/** Printable ASCII. */
export const IDEMPOTENCY_KEY_PATTERN = '^[\\x20-\\x7e]{1,255}$';

/** People reach operations through the gateway, and some of them also through a service that acts for them. */
const GATEWAY_ONLY: readonly ServiceName[] = ['gateway'];

/** The services that may call an operation. */
export function callersOf({ internal, callers }: Pick<Contract, 'internal' | 'callers'>): readonly ServiceName[] {
  return internal?.callers ?? (callers ? [...GATEWAY_ONLY, ...callers] : GATEWAY_ONLY);
}
