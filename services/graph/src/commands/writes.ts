import { requireScope } from '@wts/access';
import { LIMITS, type ModelRecord } from '@wts/contracts';
import type { Model } from '@wts/models';
import type { Caller } from '../domain/caller.ts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Reads } from '../queries/reads.ts';
import { Changes, type SentAgain } from './changes.ts';
import { emptyTrash, type EmptiedTrash } from './empty-trash.ts';
import { mutate, type Change, type Outcome } from './mutate.ts';
import { refused, type Refused } from './outcome.ts';
import type { SendInOrder } from './placed-batch.ts';
import { WorkspaceCommands, type WorkspaceServices } from './workspaces.ts';

/** What a resolver gets of a record: the record, with the name of its type. */
export type Source = ModelRecord & { readonly __typename: string };

/** The result of a change of one record, without the name of the record's field. */
export interface Result {
  readonly success: boolean;
  readonly syncId: string | null;
  readonly lastSyncId: string;
  readonly record: Source | null;
  readonly error: Refused['error'] | null;
}

/** The results of a batch; no results when the batch as a whole was refused. */
export interface BatchResult {
  readonly success: boolean;
  readonly lastSyncId: string;
  readonly results: readonly Result[];
  readonly error: Refused['error'] | null;
}

const sendAll: SendInOrder = (changes, send) => send(changes);

/** The services that decide what is changed. */
export interface WriteServices extends WorkspaceServices {
  readonly sync: ServiceClient;
  /** From which ids of new records are derived that other people cannot compute. */
  readonly secret: string;
}

/** Changes the records of one request, through sync. Keeps graphql.writes.scope. */
export class Writes {
  readonly workspaces: WorkspaceCommands;
  readonly #services: WriteServices;
  readonly #caller: Caller;
  readonly #reads: Reads;

  constructor(services: WriteServices, caller: Caller, reads: Reads) {
    this.#services = services;
    this.#caller = caller;
    this.#reads = reads;
    this.workspaces = new WorkspaceCommands(services, caller, reads);
  }

  /** The result of a change of one record. */
  async one(model: Model, again: SentAgain, make: (changes: Changes) => Change): Promise<Result> {
    const [result] = await this.#send([make(this.#changes(model, again))]);
    if (!result) throw new Error('a change has no result');
    return result;
  }

  /** The results of a batch. */
  async all(
    model: Model,
    again: SentAgain,
    make: (changes: Changes) => readonly Change[],
    sendInOrder: SendInOrder = sendAll,
  ): Promise<BatchResult> {
    const changes = make(this.#changes(model, again, true));
    if (changes.length === 0 || changes.length > LIMITS.graphBatchMax) {
      const { error } = refused(
        'BAD_USER_INPUT',
        `A batch has 1 to ${LIMITS.graphBatchMax} items, not ${changes.length}`,
      );
      return { success: false, lastSyncId: '0', results: [], error };
    }
    const results = await this.#send(changes, sendInOrder);
    return { success: results.every(({ success }) => success), lastSyncId: highest(results), results, error: null };
  }

  emptyTrash(given: { readonly workspaceId: string; readonly count: number }): Promise<EmptiedTrash> {
    return emptyTrash({ sync: this.#services.sync, reads: this.#reads }, this.#caller, given);
  }

  #changes(model: Model, again: SentAgain, isBatch = false): Changes {
    // Before anything is read, so that the answer reveals nothing about a record.
    requireScope(this.#caller.principal, model.scope);
    const { userId } = this.#caller.principal;
    return new Changes(model, again, { userId, secret: this.#services.secret, isBatch });
  }

  /** All changes are one request to sync: a batch of fifty has one commit, and its order. */
  async #send(changes: readonly Change[], sendInOrder: SendInOrder = sendAll): Promise<Result[]> {
    const outcomes = await sendInOrder(changes, (sent) => mutate(this.#services.sync, this.#caller, sent));
    if (outcomes.some(({ ok }) => ok)) this.#reads.refresh();
    const lastSyncId = highest(outcomes.map((outcome) => ({ lastSyncId: outcome.ok ? outcome.lastSyncId : '0' })));
    return Promise.all(outcomes.map((outcome, index) => this.#resultOf(changes[index]?.model, outcome, lastSyncId)));
  }

  async #resultOf(model: Model | undefined, outcome: Outcome, lastSyncId: string): Promise<Result> {
    if (!outcome.ok || !model) {
      const error = outcome.ok ? null : outcome.error;
      return { success: false, syncId: null, lastSyncId: '0', record: null, error };
    }
    const { syncId, record } = outcome;
    // The entry of a change that was sent again may be trimmed from the log; then the record is given as it is now.
    const isWhole = 'createdAt' in record;
    const current = isWhole ? record : await this.#reads.byId(model, record.id);
    return {
      success: true,
      syncId,
      lastSyncId,
      record: current && { ...current, __typename: model.name },
      error: null,
    };
  }
}

/** Positions are 64-bit integers as text. */
function highest(results: readonly { readonly lastSyncId: string }[]): string {
  return results.reduce((last, { lastSyncId }) => (BigInt(lastSyncId) > BigInt(last) ? lastSyncId : last), '0');
}
