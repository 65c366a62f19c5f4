import { requireScope } from '@wts/access';
import { LIMITS, type ModelRecord } from '@wts/contracts';
import { Workspace, type Model, type Values } from '@wts/models';
import type { Caller } from '../domain/caller.ts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Reads } from '../queries/reads.ts';
import { Changes, type DayStep, type SentAgain, type Step } from './changes.ts';
import { emptyTrash, type EmptiedTrash } from './empty-trash.ts';
import { mutate, type Change, type Outcome } from './mutate.ts';
import { refused, type Refused } from './outcome.ts';
import { sendCreates, sendUpdates } from './placed-batch.ts';
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

type SendInOrder = typeof sendUpdates;

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

  create(model: Model, input: Values, again: SentAgain): Promise<Result> {
    return this.#one(this.#changes(model, again).create(input));
  }

  update(
    model: Model,
    { id, input }: { readonly id: string; readonly input: Values },
    again: SentAgain,
  ): Promise<Result> {
    return this.#one(this.#changes(model, again).update(id, input));
  }

  step(model: Model, { id, ...step }: { readonly id: string } & DayStep, again: SentAgain): Promise<Result> {
    return this.#one(this.#changes(model, again).step(id, step));
  }

  deleteWorkspace({ id, urlKey }: { readonly id: string; readonly urlKey: string }, again: SentAgain): Promise<Result> {
    return this.#one(this.#changes(Workspace, again).archive(id, { urlKey }));
  }

  emptyTrash(given: { readonly workspaceId: string; readonly count: number }): Promise<EmptiedTrash> {
    return emptyTrash({ sync: this.#services.sync, reads: this.#reads }, this.#caller, given);
  }

  createAll(model: Model, inputs: readonly Values[], again: SentAgain): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(
      inputs.map((input, index) => changes.create(input, index)),
      sendCreates,
    );
  }

  updateAll(
    model: Model,
    { ids, input }: { readonly ids: readonly string[]; readonly input: Values },
    again: SentAgain,
  ): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(
      ids.map((id, index) => changes.update(id, input, index)),
      sendUpdates,
    );
  }

  stepAll(
    model: Model,
    { ids, step }: { readonly ids: readonly string[]; readonly step: Step },
    again: SentAgain,
  ): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(ids.map((id, index) => changes.step(id, { step }, index)));
  }

  #changes(model: Model, again: SentAgain, isBatch = false): Changes {
    // Before anything is read, so that the answer reveals nothing about a record.
    requireScope(this.#caller.principal, model.scope);
    const { userId } = this.#caller.principal;
    return new Changes(model, again, { userId, secret: this.#services.secret, isBatch });
  }

  async #one(change: Change): Promise<Result> {
    const [result] = await this.#send([change]);
    if (!result) throw new Error('a change has no result');
    return result;
  }

  async #all(changes: readonly Change[], sendInOrder: SendInOrder = sendAll): Promise<BatchResult> {
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

export function writesOf(services: WriteServices, caller: Caller, reads: Reads): Writes {
  return new Writes(services, caller, reads);
}
