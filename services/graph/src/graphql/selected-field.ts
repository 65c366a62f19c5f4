import type { GraphQLFieldResolver } from 'graphql';
import type { RequestContext } from './request-context.ts';

/** Shorter texts are bounded by the number of fields. */
const LONG_CHARS_MIN = 256;

/**
 * The resolver of a field without one of its own: a property of its source, or what a function there returns. Long texts are charged,
 * because a record is read once and may be selected under thirty names, in each of the hundreds of records that refer to it.
 */
export const selectedField: GraphQLFieldResolver<unknown, RequestContext> = (source, given, context, info) => {
  const value = (source as Readonly<Record<string, unknown>>)[info.fieldName];
  if (typeof value === 'function') return (value as Method).call(source, given, context, info);
  if (typeof value !== 'string' || value.length < LONG_CHARS_MIN) return value;
  // The operation has failed already, so what it still completes is not sent.
  return context.charge.text(value.length) ? value : '';
};

type Method = (given: unknown, context: RequestContext, info: unknown) => unknown;
