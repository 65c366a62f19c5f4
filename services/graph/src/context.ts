import type { Principal } from '@wts/contracts';
import type { Standby } from '@wts/read-model';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Pool } from 'pg';
import type { Statements } from './store/statements.ts';
import type { Reads } from './queries/reads.ts';
import type { Writes } from './commands/writes.ts';

/** What the operations of this service use, opened once. */
export interface Context {
  /** The primary. */
  readonly pool: Pool;
  readonly standby: Standby | null;
  readonly statements: Statements;
  readonly sync: ServiceClient;
  readonly workspace: ServiceClient;
}

/** Who calls, and until when the call may run. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborts when the client has disconnected, or at the deadline of the request. */
  readonly signal: AbortSignal;
  /** A position in the log that the answer must include, from the header `X-Min-Sync-Id`. */
  readonly minSyncId: bigint | null;
}

/** The third argument of every resolver: what one request reads and changes. */
export interface RequestContext extends Caller {
  readonly reads: Reads;
  readonly writes: Writes;
}
