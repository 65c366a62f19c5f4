import type { Io } from './io.ts';
import type { Output } from './output/output.ts';
import type { Options } from './options.ts';
import type { Session } from './session/session.ts';

/** One call of a command: what was given to it, and what it may use. */
export interface Call {
  /** The words that are no options, in their order. */
  readonly words: readonly string[];
  readonly options: Options;
  readonly io: Io;
  readonly output: Output;
  /** Opened at the first call. Throws a fault of `sign-in` where there is no credential. */
  readonly session: () => Promise<Session>;
  /** Aborts at Ctrl-C, and when the reader of the output is gone. */
  readonly signal: AbortSignal;
}

export type Action = (call: Call) => Promise<void>;
