import type { Principal } from '@wts/contracts';
import type { GroupCache, Standby } from '@wts/read-model';
import type { ServiceClient } from '@wts/service-kit/call';
import type { LoopTurns } from '@wts/service-kit/fairness';
import type { Pool } from 'pg';
import type { AnswerBytes } from './domain/answer-bytes.ts';
import type { Statements } from './store/statements.ts';
import type { Charge } from './graphql/rules/cost.ts';
import type { Reads } from './queries/reads.ts';
import type { Writes } from './commands/writes.ts';
import type { WrongCodes } from './commands/wrong-codes.ts';

/** What the operations of this service use, opened once. */
export interface Context {
  /** The primary. */
  readonly pool: Pool;
  readonly standby: Standby | null;
  readonly statements: Statements;
  readonly groupCache: GroupCache;
  readonly sync: ServiceClient;
  readonly workspace: ServiceClient;
  readonly auth: ServiceClient;
  readonly wrongCodes: WrongCodes;
  /** From which ids of new records are derived that other people cannot compute. */
  readonly secret: string;
}

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

/** The third argument of every resolver: what one request reads and changes. */
export interface RequestContext extends Caller {
  readonly reads: Reads;
  readonly writes: Writes;
  readonly charge: Charge;
  /** Divides the event loop among the people whose large answers are made. */
  readonly turns: LoopTurns;
}
