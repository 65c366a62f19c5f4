import type { Principal } from '@wts/contracts';
import type { AnswerBytes } from './answer-bytes.ts';

/** Who calls, and until when the call may run. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborts when the client has disconnected or has its answer, or at the deadline of the request. */
  readonly signal: AbortSignal;
  /** What its answer takes of the memory. */
  readonly bytes: AnswerBytes;
  /** The position of the log that all reads must have: the header `X-Min-Sync-Id`. */
  readonly minSyncId?: string;
}
