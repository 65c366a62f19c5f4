import {
  callersOf,
  errorBodySchema,
  errorsOf,
  HEADERS,
  type BodyOf,
  type Contract,
  type ErrorCode,
  type JsonSchema,
  type ParamsOf,
  type Principal,
  type ReplyOf,
  type ServiceName,
} from '@wts/contracts';
import assert from 'node:assert/strict';
import { minterFor } from './environment.ts';
import { sendRequest } from './request.ts';

/** A service under test, which is called as other services call it. */
export interface CalledService {
  readonly url: string;
  readonly name: ServiceName;
  /** Compiles a schema to a check, which throws. */
  readonly compile: (schema: JsonSchema, where: string) => (value: unknown) => void;
}

export type OperationRequest<C> = (ParamsOf<C> extends Record<string, never>
  ? object
  : { readonly params: ParamsOf<C> }) &
  (BodyOf<C> extends undefined ? object : { readonly body: BodyOf<C> }) & {
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
  };

export interface OperationReply<C> {
  readonly status: number;
  /** That of the contract, when the status is. */
  readonly body: ReplyOf<C>;
  /** Of an error. */
  readonly code: ErrorCode | undefined;
  readonly message: string | undefined;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Calls an operation, and checks that its contract has this reply: the body, or the error. */
export async function callOperation<C extends Contract>(
  { url, name, compile }: CalledService,
  principal: Principal,
  contract: C,
  request: OperationRequest<C>,
): Promise<OperationReply<C>> {
  const { params, query, body, headers } = request as {
    params?: Record<string, string>;
    query?: Record<string, string>;
    body?: object;
    headers?: Record<string, string>;
  };
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params?.[key] ?? ''));
  const [from = 'gateway'] = callersOf(contract);
  const { status, text, json, ...reply } = await sendRequest(
    { baseUrl: url, token: null },
    contract.method,
    `${path}?${new URLSearchParams(query).toString()}`,
    { body, headers: { [HEADERS.principal]: minterFor(from, name)(principal), ...headers } },
  );
  const content = json() as ReplyOf<C> & { code?: ErrorCode; message?: string; statusCode?: number };
  if (status === contract.reply.status) {
    compile(contract.reply.schema, `the reply of ${contract.id}`)(content);
    return { status, body: content, code: undefined, message: undefined, text, ...reply };
  }
  compile(errorBodySchema, `the error of ${contract.id}`)(content);
  const { code, message, statusCode } = content;
  assert.equal(statusCode, status);
  assert.ok(errorsOf(contract).includes(code as ErrorCode), `${contract.id} does not have ${code} in its contract`);
  return { status, body: content, code, message, text, ...reply };
}
