import { SyncError } from '../error.ts';

/** An error as GraphQL reports it. */
export interface GraphqlErrorEntry {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
}

const TEMPORARY = new Set(['RATE_LIMITED', 'UNAVAILABLE']);

/** An operation of GraphQL failed, or a part of it. Its reply has the status 200. */
export class GraphqlError extends SyncError {
  readonly errors: readonly GraphqlErrorEntry[];
  /** What did not fail. */
  readonly data: unknown;
  /** `extensions.code` of the first error. */
  readonly graphqlCode: string;

  constructor(errors: readonly GraphqlErrorEntry[], data: unknown, requestId: string | undefined) {
    const [{ message, extensions: { code = 'INTERNAL', retryAfterSeconds } = {} } = { message: 'It failed' }] = errors;
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
    super('refused', `${message}${more}`, { status: 200, requestId, retryAfterMs });
    this.name = 'GraphqlError';
    this.errors = errors;
    this.data = data;
    this.graphqlCode = code;
  }

  override get isTemporary(): boolean {
    return TEMPORARY.has(this.graphqlCode);
  }
}
