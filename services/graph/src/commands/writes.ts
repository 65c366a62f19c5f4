import { requireScope } from '@wts/access';
import { isUuid, LIMITS, type ModelRecord } from '@wts/contracts';
import type { Model, Values } from '@wts/models';
import { createHash } from 'node:crypto';
import type { Caller, Context } from '../context.ts';
import type { Reads } from '../queries/reads.ts';
import { committedStatement } from '../store/committed-changes.ts';
import { Changes, withRank, type PlacedChange, type SentAgain, type Step } from './changes.ts';
import { mutate, type Change, type Outcome } from './mutate.ts';
import { refused, type Refused } from './outcome.ts';
import { ranksAt, type Place } from './place.ts';
import { WorkspaceCommands } from './workspaces.ts';

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

/** Changes the records of one request, through sync. Keeps graphql.writes.scope. */
export class Writes {
  readonly workspaces: WorkspaceCommands;
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #reads: Reads;

  constructor(context: Context, caller: Caller, reads: Reads) {
    this.#context = context;
    this.#caller = caller;
    this.#reads = reads;
    this.workspaces = new WorkspaceCommands(context, caller, reads);
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

  step(model: Model, { id, step }: { readonly id: string; readonly step: Step }, again: SentAgain): Promise<Result> {
    return this.#one(this.#changes(model, again).step(id, step));
  }

  createAll(model: Model, inputs: readonly Values[], again: SentAgain): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(inputs.map((input, index) => changes.create(input, index)));
  }

  updateAll(
    model: Model,
    { ids, input }: { readonly ids: readonly string[]; readonly input: Values },
    again: SentAgain,
  ): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(ids.map((id, index) => changes.update(id, input, index)));
  }

  stepAll(
    model: Model,
    { ids, step }: { readonly ids: readonly string[]; readonly step: Step },
    again: SentAgain,
  ): Promise<BatchResult> {
    const changes = this.#changes(model, again, true);
    return this.#all(ids.map((id, index) => changes.step(id, step, index)));
  }

  #changes(model: Model, again: SentAgain, isBatch = false): Changes {
    // Before anything is read, so that the answer reveals nothing about a record.
    requireScope(this.#caller.principal, model.scope);
    const { userId } = this.#caller.principal;
    return new Changes(model, again, { userId, secret: this.#context.secret, isBatch });
  }

  async #one(placed: PlacedChange): Promise<Result> {
    const [result] = await this.#send([placed]);
    if (!result) throw new Error('a change has no result');
    return result;
  }

  async #all(placed: readonly PlacedChange[]): Promise<BatchResult> {
    if (placed.length === 0 || placed.length > LIMITS.graphBatchMax) {
      const { error } = refused(
        'BAD_USER_INPUT',
        `A batch has 1 to ${LIMITS.graphBatchMax} items, not ${placed.length}`,
      );
      return { success: false, lastSyncId: '0', results: [], error };
    }
    const results = await this.#send(placed);
    return {
      success: results.every(({ success }) => success),
      lastSyncId: highest(results),
      results,
      error: null,
    };
  }

  /** All changes are one request to sync: a batch of fifty has one commit, and its order. */
  async #send(placed: readonly PlacedChange[]): Promise<Result[]> {
    const { changes, moved } = await this.#place(placed);
    const toSend = changes.filter((change): change is Change => !('ok' in change));
    // The neighbors first: when a call fails in between, their order is still the same, and a repeated call does the rest.
    const outcomes = await mutate(this.#context.sync, this.#caller, [...moved, ...toSend]);
    if (outcomes.some(({ ok }) => ok)) this.#reads.refresh();
    const sent = outcomes.slice(moved.length)[Symbol.iterator]();
    const settled: Outcome[] = changes.map((change) =>
      'ok' in change ? change : (sent.next().value ?? refused('INTERNAL', 'Sync gave no result')),
    );
    const lastSyncId = highest(outcomes.map((outcome) => ({ lastSyncId: outcome.ok ? outcome.lastSyncId : '0' })));
    return Promise.all(
      settled.map((outcome, index) => this.#resultOf(placed[index]?.change.model, outcome, lastSyncId)),
    );
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

  /** Computes the ranks of changes that name a place. Those with the same place get ranks in their order. */
  async #place(placed: readonly PlacedChange[]): Promise<{ changes: (Change | Refused)[]; moved: Change[] }> {
    const changes: (Change | Refused)[] = placed.map(({ change }) => change);
    const moved: Change[] = [];
    const places = new Map<string, { readonly place: Place; readonly indexes: number[] }>();
    const committed = await this.#committedOf(placed);
    for (const [index, { change, place }] of placed.entries()) {
      if (place === null || committed.has(change)) continue;
      const key = JSON.stringify([place.before ?? null, place.after ?? null]);
      const same = places.get(key);
      if (same) same.indexes.push(index);
      else places.set(key, { place, indexes: [index] });
    }
    if (places.size === 0) return { changes, moved };
    if (places.size > 1) {
      const error = refused('BAD_USER_INPUT', 'The items of one batch have the same place, or none');
      for (const { indexes } of places.values()) for (const index of indexes) changes[index] = error;
      return { changes, moved };
    }
    for (const { place, indexes } of places.values()) {
      const group = indexes.flatMap((index) => placed[index]?.change ?? []);
      const [first] = group;
      if (!first) continue;
      const { model, clientId, clientTxId } = first;
      const ranks = await ranksAt(place, {
        reads: this.#reads,
        model,
        ids: group.map(({ id }) => id.toLowerCase()),
      });
      for (const [order, index] of indexes.entries()) {
        const change = group[order];
        if (change) changes[index] = ranks.ok ? withRank(change, ranks.ranks[order] ?? '') : ranks;
      }
      if (!ranks.ok) continue;
      for (const { id, rank } of ranks.moved) {
        const payload = { sortOrder: rank };
        moved.push({ model, id, action: 'UPDATE', payload, clientId, clientTxId: nameOfMoved(clientTxId, id) });
      }
    }
    return { changes, moved };
  }

  /** Those with a place that were committed before: they get no rank again, because their neighbors may be others by now. */
  async #committedOf(placed: readonly PlacedChange[]): Promise<ReadonlySet<Change>> {
    const changes = placed.flatMap(({ change, place }) => (place === null ? [] : [change]));
    const [first] = changes;
    if (first === undefined) return new Set();
    const names = changes.map(({ clientTxId }) => clientTxId);
    const committed = new Set(
      (await this.#reads.read((sql) => committedStatement(first.clientId, names, sql))) as readonly string[],
    );
    // A record may also be created again under its id.
    const isMade = await Promise.all(
      changes.map(
        async ({ action, model, id }) =>
          action === 'INSERT' && isUuid(id) && (await this.#reads.byId(model, id)) !== null,
      ),
    );
    return new Set(changes.filter(({ clientTxId }, index) => committed.has(clientTxId) || isMade[index]));
  }
}

/** The same when the change is sent again. A hash, because the name of the change may have all characters that a name can have. */
function nameOfMoved(clientTxId: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([clientTxId, id]))
    .digest('hex');
}

/** Positions are 64-bit integers as text. */
function highest(results: readonly { readonly lastSyncId: string }[]): string {
  return results.reduce((last, { lastSyncId }) => (BigInt(lastSyncId) > BigInt(last) ? lastSyncId : last), '0');
}

export function writesOf(context: Context, caller: Caller, reads: Reads): Writes {
  return new Writes(context, caller, reads);
}
