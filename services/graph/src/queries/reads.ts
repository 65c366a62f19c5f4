import type { Caller, Context } from '../context.ts';

/** What one request reads. */
export interface Reads {
  readonly caller: Caller;
}

export function readsOf(_context: Context, caller: Caller): Reads {
  return { caller };
}
