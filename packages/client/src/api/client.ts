import { SyncError } from '../error.ts';
import { Http, notUnderstood, type ServerOptions } from '../http.ts';
import { retrying, type CallOptions, type RetryOptions } from '../retry.ts';
import { GraphqlError, type GraphqlErrorEntry } from './graphql-error.ts';
import { OPERATIONS } from './operation-rows.ts';
import type { Operations } from './operations.ts';
import { requestOf, type OperationOptions, type OperationRow } from './request.ts';

export interface ApiClientOptions extends ServerOptions {
  readonly retry?: RetryOptions;
}

export interface GraphqlOptions extends CallOptions {
  /** Whether the document may be sent again when its reply is lost. Default: when it has no mutation. */
  readonly isRepeatable?: boolean;
}

/** The operations of REST by their ids in `/openapi.json`, and those of GraphQL by their documents. */
export interface ApiClient extends Operations {
  /** The data of an operation. Throws `GraphqlError` when a part of it failed, which may be all of it. */
  readonly graphql: <Data>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: GraphqlOptions,
  ) => Promise<Data>;
}

/** A client of one caller. No work runs between calls; every call ends by its deadline or its signal. */
export function createApiClient({ retry = {}, ...server }: ApiClientOptions): ApiClient {
  const http = new Http(server);
  const operations = Object.entries(OPERATIONS).map(([id, row]) => [
    id,
    async (input: Readonly<Record<string, unknown>> = {}, options: OperationOptions = {}): Promise<unknown> => {
      const { isDeletion = false }: OperationRow = row;
      const { path, request, isRepeatable } = requestOf(row, input, options);
      let isRepeated = false;
      const attempt = async (signal: AbortSignal): Promise<unknown> => {
        try {
          return (await http.exchange(path, signal, request)).body;
        } catch (error) {
          // It was deleted by an attempt whose reply was lost.
          if (isRepeated && isDeletion && isStatus(error, 404)) return { ok: true };
          // A request that comes too early is refused before anything is done.
          isRepeated ||= !isStatus(error, 429);
          throw error;
        }
      };
      return retrying(attempt, { ...options, isRepeatable }, retry);
    },
  ]);
  return {
    ...(Object.fromEntries(operations) as Operations),
    graphql: (query, variables = {}, { isRepeatable = !/\bmutation\b/.test(query), ...options } = {}) =>
      retrying((signal) => runGraphql(http, { query, variables }, signal), { ...options, isRepeatable }, retry),
  };
}

interface GraphqlReply<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphqlErrorEntry[];
}

async function runGraphql<Data>(http: Http, body: object, signal: AbortSignal): Promise<Data> {
  const reply = await http.exchange('/graphql', signal, { method: 'POST', body });
  const { data = null, errors = [] } = reply.body as GraphqlReply<Data>;
  if (errors.length > 0) throw new GraphqlError(errors, data, reply.requestId);
  // Each document asks for something.
  if (data !== null && Object.keys(data as object).length > 0) return data;
  const message = notUnderstood(http.baseUrl);
  throw new GraphqlError([{ message, extensions: { code: 'ANSWER_INVALID' } }], null, reply.requestId);
}

function isStatus(error: unknown, status: number): boolean {
  return error instanceof SyncError && error.status === status;
}
