import type { Caller, Context } from '../context.ts';

/** What one request changes. */
export interface Writes {
  readonly caller: Caller;
}

export function writesOf(_context: Context, caller: Caller): Writes {
  return { caller };
}
