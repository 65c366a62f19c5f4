import type { ErrorCode } from './codes.ts';
import { SyncError } from './error.ts';
import type { AcceptedChange, Change } from './records.ts';
import type { MutateReply, SyncTransaction } from './wire.ts';

/** The result of one change. A refusal is in a 200, and does not stop the other changes. */
export type ChangeResult =
  | { readonly success: true; readonly clientTxId: string; readonly syncId: string }
  | {
      readonly success: false;
      readonly clientTxId: string;
      /** The reason, for people. */
      readonly error: string;
      /** The reason, for programs. */
      readonly code?: ErrorCode;
    };

export interface MutateOutcome {
  /** A cursor at or past it includes all changes of this call. */
  readonly lastSyncId: string;
  /** One for each change, in their order. */
  readonly results: readonly ChangeResult[];
  /** The accepted ones, with their records. */
  readonly mutations: readonly AcceptedChange[];
}

/** At least one change was refused; the others were made, as in `outcome`. */
export class RefusedError extends SyncError {
  readonly outcome: MutateOutcome;

  constructor(outcome: MutateOutcome) {
    const refusals = outcome.results.filter((result) => !result.success);
    const [first] = refusals;
    const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : '';
    super('refused', `${first?.error ?? 'Refused'}${more}`, { status: 200 });
    this.name = 'RefusedError';
    this.outcome = outcome;
  }
}

export function transactionsOf(changes: readonly Change[], clientId: string): SyncTransaction[] {
  return changes.map(({ clientTxId = crypto.randomUUID(), payload = {}, ...change }) => ({
    ...change,
    clientTxId,
    clientId,
    payload,
  }));
}

/** Throws a temporary error when a change has no result, so that the call is repeated. */
export function outcomeOf(
  { lastSyncId, results, mutations }: MutateReply,
  sent: readonly SyncTransaction[],
): MutateOutcome {
  const isComplete =
    results.length === sent.length && results.every((one, at) => one.clientTxId === sent[at]?.clientTxId);
  if (!isComplete) throw new SyncError('answer_invalid', 'The answer does not have one result for each change');
  return { lastSyncId, results: results as readonly ChangeResult[], mutations };
}
