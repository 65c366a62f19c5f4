import { graphqlApi, type Principal } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import { AGENT_LIMITS } from '../limits.ts';
import { ToolError } from '../tool-error.ts';
import { visibleTexts } from './visible-texts.ts';

/** A GraphQL document with the types of its result and its variables. */
export interface Document<Data, Variables> {
  readonly text: string;
  readonly shape?: (variables: Variables) => Data;
}

export function document<Data, Variables = Record<string, never>>(...texts: string[]): Document<Data, Variables> {
  return { text: texts.join('\n') };
}

/** One call of a tool at the graph service: who calls, and when it ends. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborts when the caller has disconnected or cancelled, and at the deadline. */
  readonly signal: AbortSignal;
}

/**
 * The graph service for one caller. A document that fails throws a ToolError with the text of GraphQL, which is public. Every
 * change has a name (`clientTxId`), so each request may be repeated after a broken connection.
 */
export class Graph {
  readonly caller: Caller;
  readonly #client: ServiceClient;

  constructor(client: ServiceClient, caller: Caller) {
    this.#client = client;
    this.caller = caller;
  }

  async run<Data, Variables extends object>(
    { text: query }: Document<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const { data, errors } = await this.#client.call(graphqlApi.query, {
      ...this.caller,
      body: { query, variables: { ...variables } as JsonObject },
      timeoutMs: AGENT_LIMITS.graphCallMs,
      idempotent: true,
    });
    const [error] = (errors ?? []) as unknown as readonly GraphqlError[];
    if (error !== undefined) throw toolErrorOf(error);
    return visibleTexts(data) as Data;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

interface GraphqlError {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
}

function toolErrorOf({ message, extensions: { code = 'INTERNAL', retryAfterSeconds } = {} }: GraphqlError): ToolError {
  return new ToolError(code.toLowerCase(), message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
