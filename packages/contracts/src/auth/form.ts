import { typed } from '../type-of.ts';

/** Parameters as `application/x-www-form-urlencoded`: those of a form, or of the query of an OAuth request. */
export interface Form {
  /** The first value of each parameter. One without a value counts as left out (RFC 6749 section 3.1). */
  readonly values: ReadonlyMap<string, string>;
  /** Names that are given more than once. */
  readonly repeated: readonly string[];
}

/** The body of contracts with `form`, in place of a schema of JSON. */
export const form = typed<Form>({ type: 'object', additionalProperties: { type: 'string' } });
