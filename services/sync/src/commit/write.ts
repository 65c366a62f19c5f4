import { randomUUID } from 'node:crypto';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { idIn, MODELS, Workspace, WorkspaceMember, type Model } from '@wts/models';
import { LOCK_TIMEOUT } from '@wts/service-kit/postgres';
import type { PoolClient } from 'pg';
import { FREEZE_AUDIENCE, JOIN_AUDIENCE } from '../store/audiences.ts';
import { COUNT, COUNT_ON } from '../store/counters.ts';
import { append, type NewEntry, type NewKey } from '../store/log.ts';
import { jsonList, together, type Call } from '../store/prepared.ts';
import type { Replay } from '../store/replays.ts';
import { deleteRows, insertRows, unchanged, updateRows, type Row } from '../store/rows.ts';
import { keepSweeps, NOT_LEAVING, NOT_SWEPT } from '../store/sweeps.ts';
import { BEGIN, COMMIT, ROLLBACK, waitForLocks } from '../store/transaction.ts';
import { USE_GROUPS } from '../store/used-groups.ts';
import { lossesOf } from './losses.ts';
import type { Refusal } from './refusal.ts';
import type { Effect, Unit } from './unit.ts';
import type { JoinedAudience } from './known.ts';
import type { World } from './world.ts';

/** What the batch made of a unit; places become known when the whole batch has its own. */
export type UnitResult =
  | {
      readonly kind: 'applied';
      readonly lastId: bigint;
      readonly mains: readonly { readonly syncId: bigint; readonly effect: Effect | null }[];
      /** What it cost, in small entries. */
      readonly weight: number;
    }
  | { readonly kind: 'replayed'; readonly replay: Replay; readonly weight: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly weight: number }
  | Later;

/** Not decided: it is too much for this batch. `isHeavy`: it has to be alone. */
export interface Later {
  readonly kind: 'later';
  readonly isHeavy: boolean;
}

export interface BatchResult {
  readonly outcomes: readonly UnitResult[];
  readonly chunk: EntryChunk | null;
  /** Something is left to be swept. */
  readonly sweeps: boolean;
}

export type Decided =
  | {
      readonly kind: 'applied';
      readonly effects: readonly Effect[];
      readonly mains: readonly { effect: Effect | null; replayOf: bigint | undefined }[];
      readonly weight: number;
    }
  | { readonly kind: 'same'; readonly as: number }
  | { readonly kind: 'replayed'; readonly replay: Replay; readonly weight: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly weight: number }
  | Later;

/** What is to be written. */
export interface Ready {
  readonly world: World;
  readonly decided: readonly Decided[];
  /** False when nothing was read: the transaction has yet to begin. */
  readonly hasBegun: boolean;
  /** When this was decided. */
  readonly now: string;
}

export async function writeBatch(
  client: PoolClient,
  units: readonly Unit[],
  { world, decided, hasBegun, now }: Ready,
  onSent: (world: World) => void,
): Promise<BatchResult> {
  const entries: (NewEntry & { effect: Effect })[] = [];
  const keys: NewKey[] = [];
  const offsets = new Map<Effect, number>();
  for (const [index, unit] of units.entries()) {
    const one = decided[index];
    if (one?.kind !== 'applied' || (one.effects.length === 0 && one.mains.length === 0)) continue;
    for (const effect of one.effects) {
      offsets.set(effect, entries.length + 1);
      entries.push(entryOf(effect, unit, entries.length + 1));
    }
    const mains = one.mains.map(({ effect, replayOf }) => (effect ? offsets.get(effect) : replayOf) ?? entries.length);
    keys.push({
      userId: unit.principal.userId,
      clientId: unit.clientId,
      clientTxId: unit.clientTxId,
      last: one.effects.length > 0 ? entries.length : lastOf(mains),
      mains,
    });
  }
  if (keys.length === 0) {
    if (hasBegun) await client.query(ROLLBACK);
    return { outcomes: outcomesOf(decided, offsets, 0n), chunk: null, sweeps: false };
  }
  const answer = together(client, [
    ...(hasBegun ? [] : [BEGIN]),
    ...writes(world),
    // The place in the log is waited for like nothing else: every batch takes it, and gives it back with its commit.
    ...(hasBegun ? [waitForLocks(LOCK_TIMEOUT)] : []),
    ...append(entries, keys, now, [...conditionsOf(world), ...lossesOf(world, entries)]),
    COMMIT,
  ]);
  onSent(world);
  const results = await answer;
  const appended = results.at(-2)?.rows[0] as { head: string; epoch: string };
  const head = BigInt(appended.head);
  const chunk = entries.length === 0 ? null : chunkOf(entries, head, now, appended.epoch);
  return { outcomes: outcomesOf(decided, offsets, head), chunk, sweeps: world.newSweeps().length > 0 };
}

/** Of places in the log: those of this batch are offsets, and come after all older ones. */
function lastOf(places: readonly (number | bigint)[]): number | bigint {
  return places.reduce(
    (last, place) =>
      typeof place === typeof last ? (place > last ? place : last) : typeof place === 'number' ? place : last,
    0n,
  );
}

/** In order of the workspaces, so that two batches do not wait in a circle. */
function counts(world: World, made: readonly Row[]): Call[] {
  // A workspace begins with its counter: with nothing to lock, its first tasks would all take the same number.
  const numbers = new Map([...made.map(({ id }): [string, number] => [id, 0]), ...world.newNumbers()]);
  const ids = [...numbers.keys()].sort();
  const [fresh, known] = [
    ids.filter((id) => world.lastNumber(id) === null),
    ids.filter((id) => world.lastNumber(id) !== null),
  ];
  const next = (id: string): string => String(numbers.get(id));
  const calls: Call[] = [];
  if (fresh.length > 0) calls.push(COUNT.with(fresh, fresh.map(next)));
  if (known.length > 0)
    calls.push(
      COUNT_ON.with(
        known,
        known.map((id) => String(world.lastNumber(id))),
        known.map(next),
      ),
    );
  return calls;
}

function writes(world: World): Call[] {
  const { inserts, updates, deletes } = world.writes();
  // Counters first: who waits for one holds nothing that is new, so whoever counts before never waits for them.
  const calls = counts(world, inserts.get(Workspace) ?? []);
  // Then deletes: a record may go and another take its unique values within one batch.
  for (const model of MODELS.toReversed()) {
    const ids = deletes.get(model);
    if (ids) calls.push(deleteRows(model, ids));
  }
  const used = world.newlyUsed;
  if (used.size > 0) calls.push(USE_GROUPS.with([...used]));
  for (const model of MODELS) {
    const updated = updates.get(model);
    if (updated) calls.push(updateRows(model, updated));
    const inserted = inserts.get(model);
    if (inserted) calls.push(insertRows(model, inserted));
  }
  return [...calls, ...audienceCalls(world), ...sweepCalls(world, inserts)];
}

function audienceCalls(world: World): Call[] {
  const { joined, frozen } = world.newAudiences();
  const people = (pairs: readonly JoinedAudience[]): [userIds: string[], groupIds: string[]] => [
    pairs.map(({ userId }) => userId),
    pairs.map(({ groupId }) => groupId),
  ];
  return [
    ...(joined.length > 0 ? JOIN_AUDIENCE.map((statement) => statement.with(...people(joined))) : []),
    ...(frozen.length > 0 ? [FREEZE_AUDIENCE.with(...people(frozen), jsonList(frozen.map(({ text }) => text)))] : []),
  ];
}

/**
 * What is new must not have the id of what is still being deleted, nor bring back memberships that are still being cleared:
 * the sweep would take it for a part of what is gone. Asked after it was written, when it has waited for a deletion.
 */
function sweepCalls(world: World, inserts: ReadonlyMap<Model, readonly Row[]>): Call[] {
  const sweeps = world.newSweeps();
  const calls = sweeps.length === 0 ? [] : [keepSweeps(sweeps)];
  const made = [...inserts.values()].flat();
  if (made.length > 0)
    calls.push(
      NOT_SWEPT.with(
        made.map(({ model }) => model.name),
        made.map(({ id }) => id),
      ),
    );
  const members = inserts.get(WorkspaceMember) ?? [];
  if (members.length > 0)
    calls.push(
      NOT_LEAVING.with(
        members.map(({ workspaceId }) => workspaceId),
        members.map(({ record }) => idIn(record, 'userId')),
      ),
    );
  return calls;
}

/**
 * Under the log's lock: nobody's membership ended or shrank between the look at it and the place in the log. Keeps
 * never.shown-outside for what is in flight while somebody is removed.
 */
function conditionsOf(world: World): Call[] {
  return world.relied().flatMap(([model, rows]) => (rows.length === 0 ? [] : [unchanged(model, rows)]));
}

function outcomesOf(decided: readonly Decided[], offsets: ReadonlyMap<Effect, number>, head: bigint): UnitResult[] {
  const place = (effect: Effect): bigint => head + BigInt(offsets.get(effect) ?? 0);
  const outcome = (one: Decided): UnitResult => {
    if (one.kind === 'same') return outcome(decided[one.as] as Decided);
    if (one.kind !== 'applied') return one;
    const mains = one.mains.map(({ effect, replayOf }) => ({
      effect,
      syncId: effect ? place(effect) : (replayOf ?? 0n),
    }));
    const last = one.effects.at(-1);
    return {
      kind: 'applied',
      mains,
      weight: one.weight,
      lastId: last ? place(last) : mains.reduce((max, { syncId }) => (syncId > max ? syncId : max), 0n),
    };
  };
  return decided.map(outcome);
}

function entryOf(effect: Effect, unit: Unit, offset: number): NewEntry & { effect: Effect } {
  return {
    effect,
    offset,
    eventId: randomUUID(),
    workspaceId: effect.workspaceId,
    groupId: effect.groupId,
    modelName: effect.model.name,
    modelId: effect.id,
    action: effect.action,
    record: effect.text,
    data: effect.data,
    changed: effect.changed,
    actorId: unit.principal.userId,
    clientId: unit.clientId,
    clientTxId: unit.clientTxId,
  };
}

function chunkOf(
  entries: readonly (NewEntry & { effect: Effect })[],
  head: bigint,
  createdAt: string,
  epoch: string,
): EntryChunk {
  const actions = entries.map((entry): StoredEntry => {
    const { record } = entry.effect;
    return {
      syncId: (head + BigInt(entry.offset)).toString(),
      modelName: entry.modelName,
      modelId: entry.modelId,
      action: entry.action,
      data: entry.data === null ? record : (JSON.parse(entry.data) as { [field: string]: unknown }),
      groupId: entry.groupId,
      clientTxId: entry.clientTxId,
      clientId: entry.clientId,
      createdAt,
      eventId: entry.eventId,
      workspaceId: entry.workspaceId,
      actorId: entry.actorId,
      record,
      changed: entry.changed,
    };
  });
  return {
    epoch,
    prev: head.toString(),
    first: (head + 1n).toString(),
    last: (head + BigInt(entries.length)).toString(),
    actions,
  };
}
