import type { AcceptedMutation, MutateReply, SyncTransaction } from '@wts/contracts';
import { SyncError } from './error.ts';

/** One change; the client names those that have no name yet. */
export type Change = Omit<SyncTransaction, 'clientTxId' | 'clientId' | 'payload'> & {
  /** Needed when the change is kept beyond this process: sent again under the same name, it is applied once. */
  readonly clientTxId?: string;
  /** Not needed for DELETE, ARCHIVE and UNARCHIVE. */
  readonly payload?: SyncTransaction['payload'];
};

/** What became of one change. A refusal comes in a 200, and does not stop the other changes. */
export type ChangeResult =
  | { readonly success: true; readonly clientTxId: string; readonly syncId: string }
  | {
      readonly success: false;
      readonly clientTxId: string;
      /** Why, for a person. */
      readonly error: string;
      /** Why, for a program. */
      readonly code?: MutateReply['results'][number]['code'];
    };

export interface MutateOutcome {
  /** A cursor at or past it has seen everything of this call. */
  readonly lastSyncId: string;
  /** One for each change, in their order. */
  readonly results: readonly ChangeResult[];
  /** The accepted ones, with their records. */
  readonly mutations: readonly AcceptedMutation[];
}

/** At least one change was refused; the others were made, and `outcome` says which. */
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

/** Each change must have its result: without one nothing is known of it, and the call is made again. */
export function outcomeOf(
  { lastSyncId, results, mutations }: MutateReply,
  sent: readonly SyncTransaction[],
): MutateOutcome {
  const isComplete =
    results.length === sent.length && results.every((one, at) => one.clientTxId === sent[at]?.clientTxId);
  if (!isComplete) throw new SyncError('answer_invalid', 'The answer does not have one result for each change');
  return { lastSyncId, results: results as readonly ChangeResult[], mutations };
}
