import type { IncomingHttpHeaders } from 'node:http';
import { Fault, graphqlApi, SYNC_ID_PATTERN } from '@wts/contracts';
import { noteRequest, sendBytes, sendText } from '@wts/service-kit/http';
import type { LoopTurns } from '@wts/service-kit/fairness';
import { mountStream, signalOf, type Call } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { GraphQLError, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createHandler, type Handler } from 'graphql-http';
import { Writes, type WriteServices } from '../commands/writes.ts';
import type { Caller } from '../domain/caller.ts';
import type { AnswerBytes, Answers } from '../domain/answer-bytes.ts';
import type { Documents } from '../graphql/documents.ts';
import { invalid, type GraphErrorCode } from '../domain/errors.ts';
import {
  codesOf,
  costShown,
  deadlineReached,
  prepareOperation,
  runOperation,
  withRequestId,
} from '../graphql/execute.ts';
import type { Outcome, PreparedOperation } from '../graphql/execute.ts';
import type { LongTurns } from '../graphql/long-turns.ts';
import { GRAPH_LIMITS } from '../limits.ts';
import type { OperationMetrics } from '../graphql/metrics.ts';
import { Reads, type ReadSources } from '../queries/reads.ts';

interface GraphqlOptions {
  readonly sources: ReadSources;
  readonly services: WriteServices;
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly answers: Answers;
  readonly turns: LoopTurns;
  readonly longTurns: LongTurns;
  readonly metrics: OperationMetrics;
  readonly deadlineMs: number;
}

/** One request, and what is known about it when it ends, for the log and the metrics. */
interface Exchange {
  readonly call: Call<typeof graphqlApi.query>;
  readonly bytes: AnswerBytes;
  /** The whole answer, when it was made as text. */
  text: string | null;
  operation: PreparedOperation | null;
  codes: readonly GraphErrorCode[];
  way: Outcome['way'];
  fault: Fault | null;
}

/** What `prepare` gives to `execute`, through `graphql-http`. */
interface Execution extends ExecutionArgs {
  readonly contextValue: undefined;
  readonly prepared: PreparedOperation;
  readonly introspects: boolean;
  readonly exchange: Exchange;
}

/**
 * `POST /graphql`: one operation. What is wrong with the request as a message (its type, its JSON, its credential) is an error of
 * our API; what is wrong with the operation is in `errors` of an answer of GraphQL, with the status that the draft "GraphQL over
 * HTTP" gives to the media type that the client accepts.
 * Keeps graphql.post.answer, graphql.post.audits.
 */
export function mountGraphql(router: IRouter, options: GraphqlOptions): void {
  const { answers, longTurns } = options;
  const handle = createHandler<Exchange>({
    // The contract has checked the body. The document may be known by its hash only.
    parseRequestParams: ({ raw }) => ({ query: raw.call.body.query ?? '' }),
    onSubscribe: ({ raw }) => prepare(options, raw),
    execute: (args) => execute(longTurns, args as Execution),
  });
  mountStream(router, graphqlApi.query, async (call) => {
    const { req, res, principal, body } = call;
    if (typeof body.query !== 'string' && hashOf(body.extensions) === null)
      throw invalid('body must have the property query');
    const person = principal.userId;
    using bytes = answers.open(person);
    const { text, ...head } = await answerOf(options, handle, { call, bytes });
    if (typeof text === 'string') sendText(req, res, { ...head, text });
    else await sendBytes(req, res, { ...head, bytes: text, stalledMs: () => answers.stalledMs(person) });
  });
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As bytes when it is long, so that it is in memory once while it is sent. */
  readonly text: string | Buffer;
}

async function answerOf(
  { metrics }: GraphqlOptions,
  handle: Handler<Exchange>,
  { call, bytes }: Pick<Exchange, 'call' | 'bytes'>,
): Promise<Answer> {
  const exchange: Exchange = { call, bytes, text: null, operation: null, codes: [], way: null, fault: null };
  const { method, headers, url } = call.req;
  const startedAt = performance.now();
  const request = { method, url, headers, body: null, raw: exchange, context: undefined };
  const [whole, { status, headers: own }] = await handle(request);
  const { operation, codes, way, fault } = exchange;
  const { kind = null, name = null } = operation?.operation ?? {};
  metrics.observe({
    kind,
    codes,
    way,
    cost: operation?.charge.cost ?? null,
    seconds: (performance.now() - startedAt) / 1000,
  });
  noteRequest(call.req, {
    failure: fault,
    details: {
      operation: name ?? undefined,
      kind,
      way,
      nodes: operation?.charge.cost.nodes,
      codes: codes.length > 0 ? codes : undefined,
    },
  });
  if (whole === null) throw faultOf(status);
  const text = exchange.text ?? whole;
  const isSmall = text.length <= GRAPH_LIMITS.answerBytesSmall;
  const encoded = isSmall ? text : Buffer.from(text);
  bytes.resize(isSmall ? 0 : encoded.length);
  // A mutation may have happened; repeated with the same `clientTxId` it gets its answer.
  if (bytes.refusal !== null) throw bytes.refusal;
  const type = own?.['content-type']?.startsWith(JSON_TYPE) ? JSON_TYPE : GRAPHQL_TYPE;
  return { status, headers: { 'content-type': type, 'cache-control': 'no-store' }, text: encoded };
}

/** As in all answers of the API, without the charset, which JSON does not have. */
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = `${graphqlApi.RESPONSE_TYPE}; charset=utf-8`;

/** What `graphql-http` refuses without a body. */
function faultOf(status: number): Fault {
  if (status === 406) return new Fault('not_acceptable');
  return new Fault('internal', { cause: new Error(`graphql-http answered ${status} without a body`) });
}

async function prepare(
  { sources, services, schema, documents, turns, longTurns, deadlineMs }: GraphqlOptions,
  exchange: Exchange,
): Promise<Execution | readonly GraphQLError[]> {
  const { call, bytes } = exchange;
  const { principal, requestId, body, req, res } = call;
  const refuse = (errors: readonly GraphQLError[]): readonly GraphQLError[] => {
    exchange.codes = codesOf(errors);
    return withRequestId(errors, requestId);
  };
  // Statements may still run after the answer, because an error ends an operation before its other fields are read.
  const signal = signalOf(res, { ms: deadlineMs, reason: deadlineReached });
  const wanted = { text: body.query ?? null, hash: hashOf(body.extensions) };
  const document = documents.isKnown(wanted)
    ? documents.find(wanted)
    : await longTurns.run(principal.userId, signal, () => documents.find(wanted)).catch(errorsOf);
  if (!('ast' in document)) return refuse(document);
  const caller: Caller = { principal, requestId, signal, bytes, ...positionOf(req.headers) };
  const reads = new Reads(sources, caller);
  const request = { ...caller, turns, reads, writes: new Writes(services, caller, reads) };
  // Some clients send an empty name for none.
  const operationName = body.operationName === '' ? null : (body.operationName ?? null);
  const prepared = prepareOperation(schema, document, { operationName, variables: body.variables ?? {} }, request);
  if (!('validated' in prepared)) return refuse(prepared);
  exchange.operation = prepared;
  const { ast, introspects } = document;
  return { schema, document: ast, operationName, contextValue: undefined, prepared, introspects, exchange };
}

/** At the deadline of a request, which is an error of the operation. */
function errorsOf(reason: unknown): readonly GraphQLError[] {
  if (reason instanceof GraphQLError) return [reason];
  throw reason;
}

async function execute(longTurns: LongTurns, { exchange, prepared, introspects }: Execution): Promise<ExecutionResult> {
  const { principal, signal } = prepared.context;
  const run = (): Promise<Outcome> => runOperation(prepared);
  const running = introspects ? longTurns.run(principal.userId, signal, run) : run();
  const { data, result, fault, codes, way } = await running.catch((error: unknown) => {
    if (!signal.aborted) throw error;
    // It is over before it began, and its outcome says so.
    return run();
  });
  exchange.fault = fault;
  exchange.codes = codes;
  exchange.way = way;
  const showsCost = exchange.call.req.headers[COST_HEADER] !== undefined;
  const extensions = showsCost ? { ...result.extensions, cost: costShown(prepared.charge.cost) } : result.extensions;
  if (data !== null) {
    const more = extensions === undefined ? '' : `,"extensions":${JSON.stringify(extensions)}`;
    exchange.text = `{"data":${data}${more}}`;
  }
  return extensions === undefined ? result : { ...result, extensions };
}

/** Asks for the cost of the operation in `extensions`. */
const COST_HEADER = 'x-graphql-cost';

/** A client that has this position, such as that of its own change, reads nothing older. */
const POSITION_HEADER = 'x-min-sync-id';

function positionOf({ [POSITION_HEADER]: minSyncId }: IncomingHttpHeaders): Pick<Caller, 'minSyncId'> {
  if (minSyncId === undefined) return {};
  if (typeof minSyncId === 'string' && POSITION.test(minSyncId)) return { minSyncId };
  throw invalid('X-Min-Sync-Id must be a position: a syncId of an earlier answer');
}

const POSITION = new RegExp(SYNC_ID_PATTERN);

/** The form that Apollo clients send. */
function hashOf(extensions: Readonly<Record<string, unknown>> | null | undefined): string | null {
  const { sha256Hash } = (extensions?.['persistedQuery'] ?? {}) as { readonly sha256Hash?: unknown };
  return typeof sha256Hash === 'string' ? sha256Hash : null;
}
