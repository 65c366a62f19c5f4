import { requireScope } from '@wts/access';
import { LRUCache } from 'lru-cache';
import { LIMITS, type Fault } from '@wts/contracts';
import { toFault } from '@wts/service-kit/http';
import { executeRootSelectionSet, GraphQLError, validateExecutionArgs } from 'graphql';
import type {
  ExecutionResult,
  GraphQLFieldResolver,
  GraphQLSchema,
  OperationDefinitionNode,
  ValidatedExecutionArgs,
} from 'graphql';
import type { RequestContext } from './request-context.ts';
import { GRAPH_LIMITS } from '../limits.ts';
import { answerDirectly, type NotDirect } from './direct.ts';
import { operationOf, type Document, type Operation } from './documents.ts';
import { GRAPH_ERRORS, graphError, short, toGraphError, type GraphErrorCode } from '../domain/errors.ts';
import { Charge, type Cost } from './rules/cost.ts';
import { isIntrospection } from './rules/introspection.ts';
import { selectedField } from './selected-field.ts';

/** What a request asks for, besides its document. */
export interface OperationRequest {
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** An operation that may run, with everything it needs. */
export interface PreparedOperation {
  readonly operation: Operation;
  readonly charge: Charge;
  readonly validated: ValidatedExecutionArgs;
  readonly context: RequestContext;
}

/**
 * Decides whether an operation may run: which one it is, whether the caller may, what its variables are, and what it costs with
 * them. Nothing is read before.
 */
export function prepareOperation(
  schema: GraphQLSchema,
  document: Document,
  { operationName, variables }: OperationRequest,
  caller: Omit<RequestContext, 'charge'>,
): PreparedOperation | readonly GraphQLError[] {
  const operation = operationOf(document, operationName);
  if (operation instanceof GraphQLError) return [operation];
  if (operation.kind === 'mutation') {
    const refusal = refusalOfScope(caller);
    if (refusal !== null) return [refusal];
  }
  const validated = validateExecutionArgs({
    schema,
    document: document.ast,
    operationName,
    variableValues: variables,
    abortSignal: caller.signal,
    options: { maxCoercionErrors: GRAPH_LIMITS.variableErrorsMax },
    fieldResolver: selectedField as GraphQLFieldResolver<unknown, unknown>,
  });
  if (!('schema' in validated)) return validated.map(asWrongInput);
  const charge = new Charge(operation.cost, validated.variableValues.coerced);
  const refusal = charge.refusal();
  if (refusal !== null) return [refusal];
  const context: RequestContext = { ...caller, charge };
  return { operation, charge, validated: { ...validated, contextValue: context }, context };
}

function refusalOfScope({ principal }: Pick<RequestContext, 'principal'>): GraphQLError | null {
  try {
    requireScope(principal, 'write');
    return null;
  } catch (error) {
    return toGraphError(toFault(error));
  }
}

/** Variables with wrong values. */
function asWrongInput({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(short(message), { nodes, extensions: { code: 'BAD_USER_INPUT' } });
}

/** The reason of a request's signal at its deadline. */
export function deadlineReached(): GraphQLError {
  const message = `The operation took longer than the allowed time and was cancelled. Ask for less at once. A mutation may still have happened: repeat it with the same clientTxId.`;
  return graphError('DEADLINE_EXCEEDED', message);
}

/** The result of an execution: the answer, and the fault that an operator must see. */
export interface Outcome {
  /** The data of a direct answer as JSON text; it has no errors. */
  readonly data: string | null;
  /** Every other answer. */
  readonly result: ExecutionResult;
  readonly fault: Fault | null;
  readonly codes: readonly GraphErrorCode[];
  /** How it was answered, or why not by PostgreSQL; null when it ended before. */
  readonly way: 'direct' | NotDirect | null;
}

/** Runs an operation. Never rejects: whatever fails is in the errors of the result, masked. */
export async function runOperation({ validated, context }: PreparedOperation): Promise<Outcome> {
  const { requestId, signal } = context;
  let result: ExecutionResult;
  let way: Outcome['way'] = null;
  try {
    signal.throwIfAborted();
    const answer = await answerDirectly(validated, context);
    way = answer.ok ? 'direct' : answer.reason;
    const data = answer.ok ? answer.text : INTROSPECTIONS.peek(validated.operation);
    if (data !== undefined) return { data, result: {}, fault: null, codes: [], way };
    result = await executeRootSelectionSet(validated);
    const tooLong = context.charge.refusalOfText();
    if (tooLong !== null) result = { data: null, errors: [tooLong] };
  } catch (error) {
    // The signal aborted, so parts of the data are missing: none is sent.
    const reason: unknown = signal.aborted ? signal.reason : error;
    result = { data: null, errors: [new GraphQLError('', { cause: reason })] };
  }
  if (result.errors === undefined) {
    if (isIntrospection(validated)) {
      const text = JSON.stringify(result.data);
      if (text.length <= GRAPH_LIMITS.introspectionCharsMax) INTROSPECTIONS.set(validated.operation, text);
    }
    return { data: null, result, fault: null, codes: [], way };
  }
  const faults: Fault[] = [];
  const errors = result.errors.map((error) => masked(error, requestId, faults));
  const fault = faults.find(({ code }) => code === 'internal') ?? faults[0] ?? null;
  return { data: null, result: { ...result, errors }, fault, codes: codesOf(errors), way };
}

/** The data of operations that read the schema alone, whose answers never change. */
const INTROSPECTIONS = new LRUCache<OperationDefinitionNode, string>({ max: GRAPH_LIMITS.introspectionsMax });

/** Adds what each error of a request has. */
export function withRequestId(errors: readonly GraphQLError[], requestId: string): GraphQLError[] {
  return errors.map((error) => copyOf(error, error.message, { ...error.extensions, requestId }));
}

/**
 * An error as the caller may see it: errors with a code of the list as they are, faults with their public text, everything else
 * as an internal error without its cause. Keeps graphql.errors.coded.
 */
function masked(error: GraphQLError, requestId: string, faults: Fault[]): GraphQLError {
  // The cause first: an error without a message of its own takes over the extensions of its cause.
  const coded = [error.cause, error].find((one) => one instanceof GraphQLError && isCoded(one));
  if (coded instanceof GraphQLError) return copyOf(error, short(coded.message), { ...coded.extensions, requestId });
  // Raised by the engine: an argument that is wrong only with its variables.
  if (error.cause === undefined) return copyOf(error, short(error.message), { code: 'BAD_USER_INPUT', requestId });
  const fault = toFault(error.cause);
  if (fault.status >= INTERNAL) faults.push(fault);
  const { message, extensions } = toGraphError(fault);
  return copyOf(error, short(message), { ...extensions, requestId });
}

const INTERNAL = 500;

function copyOf({ nodes, path, source, positions }: GraphQLError, message: string, extensions: object): GraphQLError {
  return new GraphQLError(message, { nodes, path, source, positions, extensions: { ...extensions } });
}

function isCoded({ extensions }: GraphQLError): boolean {
  return typeof extensions.code === 'string' && extensions.code in GRAPH_ERRORS;
}

/** The codes of errors, each of which has one. */
export function codesOf(errors: readonly GraphQLError[]): GraphErrorCode[] {
  return errors.map(({ extensions }) => extensions.code as GraphErrorCode);
}

/** The cost of an operation, for a caller who requested it. */
export function costShown({ nodes, objects }: Cost): Readonly<Record<keyof Cost | 'nodesMax' | 'objectsMax', number>> {
  return { nodes, nodesMax: LIMITS.graphNodesMax, objects, objectsMax: LIMITS.graphObjectsMax };
}
