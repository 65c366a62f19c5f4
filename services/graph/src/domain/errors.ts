import { errorBody, ERRORS, Fault, type ErrorCode } from '@wts/contracts';
import { GraphQLError } from 'graphql';
import { GRAPH_LIMITS } from '../limits.ts';

/** Every `extensions.code`, and every code of a refused change, with what it means for a caller. */
export const GRAPH_ERRORS = {
  UNAUTHENTICATED: 'The credential is missing, wrong, revoked or expired.',
  FORBIDDEN: 'The scope of the credential, or the role of the person, does not allow this.',
  NOT_FOUND: 'It does not exist, or the caller may not see it.',
  BAD_USER_INPUT: 'A value is wrong; the message names it. The same request fails again.',
  CONFLICT: 'It conflicts with the current state, such as a key that is taken.',
  RATE_LIMITED: 'Too many requests. Retry after `retryAfterSeconds`.',
  LIMIT_REACHED: 'A workspace or a person has as many of these as they can have.',
  PARSE_FAILED: 'The document is not GraphQL, or has too many tokens.',
  VALIDATION_FAILED: 'The document does not fit the schema.',
  DEPTH_LIMIT_EXCEEDED: 'The operation has too many levels.',
  COMPLEXITY_LIMIT_EXCEEDED: 'The operation asks for too much at once; the message says what to reduce.',
  PERSISTED_QUERY_NOT_FOUND: 'No document with this hash is known. Send the request again with `query`.',
  DEADLINE_EXCEEDED: 'The operation took too long and was cancelled. Ask for less at once.',
  UNAVAILABLE: 'A part of the service is unavailable. Retry after `retryAfterSeconds`.',
  INTERNAL: 'Something went wrong on the server. Quote `requestId` when you report it.',
} as const;

export type GraphErrorCode = keyof typeof GRAPH_ERRORS;

/** Codes by the status that the same fault has in REST; every other one is a wrong value. */
const BY_STATUS: Readonly<Record<number, GraphErrorCode>> = {
  401: 'UNAUTHENTICATED',
  402: 'LIMIT_REACHED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  422: 'CONFLICT',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** The code of a fault of REST in GraphQL. */
export function graphCodeOf(code: ErrorCode): GraphErrorCode {
  return BY_STATUS[ERRORS[code].status] ?? 'BAD_USER_INPUT';
}

/** Messages about a value or a name repeat it, which may be as long as the request. */
export function short(message: string): string {
  const { messageCharsMax: max } = GRAPH_LIMITS;
  return message.length <= max ? message : `${message.slice(0, max)}…`;
}

/** An error with a code of the list. Resolvers throw a `Fault` where one fits, which becomes such an error. */
export function graphError(
  code: GraphErrorCode,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  return new GraphQLError(short(message), { extensions: { code, ...more } });
}

/** An argument that is wrong; the message names it. */
export function invalid(message: string): Fault {
  return new Fault('validation_failed', { message });
}

/** The error of a fault: its public text, its code and its advice. The cause stays in `cause`, which is never sent. */
export function toGraphError(fault: Fault): GraphQLError {
  const { message, error, retryAfterSeconds } = errorBody(fault);
  return new GraphQLError(message ?? error, {
    cause: fault,
    extensions: { code: graphCodeOf(fault.code), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
  });
}
