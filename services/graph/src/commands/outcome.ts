import { Fault, type ErrorCode } from '@wts/contracts';
import { graphCodeOf, type GraphErrorCode } from '../domain/errors.ts';

/** A change that was refused: part of the answer, not an error of the operation. */
export interface Refused {
  readonly ok: false;
  readonly error: { readonly code: GraphErrorCode; readonly message: string };
}

/** What a refused change answers. */
export function refused(code: GraphErrorCode, message: string): Refused {
  return { ok: false, error: { code, message } };
}

export function refusedBy(code: ErrorCode, message: string): Refused {
  return refused(graphCodeOf(code), message);
}

/**
 * Errors that are no decision about the change: the same request may succeed later, or with another credential.
 * Keeps graphql.writes.unavailable.
 */
const ERRORS_OF_THE_REQUEST: ReadonlySet<GraphErrorCode> = new Set([
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
]);

/** The refusal that another service has thrown; throws what is an error of the request. */
export function refusalOf(failure: unknown): Refused {
  if (!(failure instanceof Fault) || failure.code === 'insufficient_scope') throw failure;
  if (ERRORS_OF_THE_REQUEST.has(graphCodeOf(failure.code))) throw failure;
  return refusedBy(failure.code, failure.publicMessage ?? failure.message);
}

/** The value of a call, or its refusal. */
export async function orRefused<T>(call: Promise<T>): Promise<{ readonly ok: true; readonly value: T } | Refused> {
  try {
    return { ok: true, value: await call };
  } catch (failure) {
    return refusalOf(failure);
  }
}
