import { randomUUID } from 'node:crypto';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { withJsonText } from '@wts/log';
import { idIn, MODELS, Workspace, WorkspaceMember, type Model } from '@wts/models';
import { LOCK_TIMEOUT } from '@wts/service-kit/postgres';
import type { PoolClient } from 'pg';
import { FREEZE_AUDIENCE, JOIN_AUDIENCE } from '../store/audiences.ts';
import { INSERT_COUNTERS, ADVANCE_COUNTERS } from '../store/counters.ts';
import { append, type Appended, type NewEntry, type NewIdempotencyKey } from '../store/log.ts';
import { jsonList, runStatements, type Statement } from '../store/prepared.ts';
import type { Replay } from '../store/idempotency-keys.ts';
import { checkUnchanged, deleteRows, insertRows, updateRows, type Row } from '../store/rows.ts';
import { insertSweeps, CHECK_NOT_LEAVING, CHECK_NOT_SWEPT } from '../store/sweeps.ts';
import { BEGIN, COMMIT, ROLLBACK, waitForLocks } from '../store/transaction.ts';
import { CHECK_KEPT } from '../store/trash.ts';
import { USE_GROUPS } from '../store/used-groups.ts';
import type { BatchState } from '../decision/batch-state.ts';
import type { AudienceMember } from '../decision/change-set.ts';
import { recordLosses } from './membership-losses.ts';
import type { Refusal } from '../decision/refusal.ts';
import type { Effect, Unit } from '../decision/unit.ts';

/** The result of a unit, with the positions of its entries. */
export type UnitResult =
  | {
      readonly kind: 'applied';
      readonly lastId: bigint;
      readonly mains: readonly { readonly syncId: bigint; readonly effect: Effect | null }[];
      /** What the unit cost, in small entries. */
      readonly weight: number;
    }
  | { readonly kind: 'replayed'; readonly replay: Replay; readonly weight: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly weight: number }
  | Later;

/** Not decided, because it is too large for this batch. `isHeavy`: it needs a batch of its own. */
export interface Later {
  readonly kind: 'later';
  readonly isHeavy: boolean;
}

export interface BatchResult {
  readonly results: readonly UnitResult[];
  readonly chunk: EntryChunk | null;
  /** Whether the batch has added sweeps. */
  readonly hasSweeps: boolean;
}

/** The result of a unit before its entries have positions. */
export type UnitDecision =
  | {
      readonly kind: 'applied';
      readonly effects: readonly Effect[];
      /** The entry of each mutation, or the position of an earlier one that its result names. */
      readonly mains: readonly (Effect | bigint)[];
      readonly weight: number;
    }
  | { readonly kind: 'same'; readonly as: number }
  | { readonly kind: 'replayed'; readonly replay: Replay; readonly weight: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly weight: number }
  | Later;

/** A batch that is decided and not written yet. */
export interface DecidedBatch {
  readonly state: BatchState;
  readonly decided: readonly UnitDecision[];
  /** False when nothing was read, so that the transaction has not begun. */
  readonly hasBegun: boolean;
}

export async function writeBatch(
  client: PoolClient,
  units: readonly Unit[],
  { state, decided, hasBegun }: DecidedBatch,
  onSent: (state: BatchState) => void,
): Promise<BatchResult> {
  const entries: (NewEntry & { effect: Effect })[] = [];
  const keys: NewIdempotencyKey[] = [];
  const offsets = new Map<Effect, number>();
  for (const [index, unit] of units.entries()) {
    const one = decided[index];
    if (one?.kind !== 'applied' || (one.effects.length === 0 && one.mains.length === 0)) continue;
    for (const effect of one.effects) {
      offsets.set(effect, entries.length + 1);
      entries.push(entryOf(effect, unit, entries.length + 1));
    }
    const mains = one.mains.map((main) => (typeof main === 'bigint' ? main : (offsets.get(main) ?? entries.length)));
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
    return { results: resultsOf(decided, offsets, 0n), chunk: null, hasSweeps: false };
  }
  const { now } = state;
  const running = runStatements(client, [
    ...(hasBegun ? [] : [BEGIN]),
    ...changeStatements(state),
    // The wait for the lock of the log is longer, because every batch takes it and releases it with its commit.
    ...(hasBegun ? [waitForLocks(LOCK_TIMEOUT)] : []),
    ...append(entries, keys, now, appendOptions(state, entries, units)),
    COMMIT,
  ]);
  onSent(state);
  const statementResults = await running;
  const appended = statementResults.at(-2)?.rows[0] as Appended;
  const chunk = entries.length === 0 ? null : chunkOf(entries, appended, now);
  return {
    results: resultsOf(decided, offsets, BigInt(appended.base)),
    chunk,
    hasSweeps: state.changes.sweeps.length > 0,
  };
}

/** What another cell has decided is no loss of anyone, and is written only where its workspace is in the state for it. */
function appendOptions(
  state: BatchState,
  entries: readonly (NewEntry & { effect: Effect })[],
  [first]: readonly Unit[],
): Parameters<typeof append>[3] {
  const conditions = assumptionStatements(state);
  const move = first?.step && 'move' in first.step ? first.step.move : '';
  return move === '' ? { conditions: [...conditions, ...recordLosses(state.reads, entries)] } : { conditions, move };
}

/** The last of these positions. A number is an offset in this batch, and comes after every `bigint`, an older position. */
function lastOf(positions: readonly (number | bigint)[]): number | bigint {
  const offsets = positions.filter((position) => typeof position === 'number');
  return offsets.length > 0 ? Math.max(...offsets) : positions.reduce((last, one) => (one > last ? one : last), 0n);
}

/** Ordered by workspace id, so that two batches never wait for each other (a deadlock). */
function counterStatements({ reads, changes }: BatchState, workspaces: readonly Row[]): Statement[] {
  // A new workspace gets its counter here: without a row to lock, parallel batches would give their first tasks the same number.
  const numbers = new Map([...workspaces.map(({ id }): [string, number] => [id, 0]), ...changes.numbers]);
  const ids = [...numbers.keys()].sort();
  const [fresh, existing] = [
    ids.filter((id) => reads.counterBefore(id) === null),
    ids.filter((id) => reads.counterBefore(id) !== null),
  ];
  const next = (id: string): string => String(numbers.get(id));
  const statements: Statement[] = [];
  if (fresh.length > 0) statements.push(INSERT_COUNTERS.with(fresh, fresh.map(next)));
  if (existing.length > 0)
    statements.push(
      ADVANCE_COUNTERS.with(
        existing,
        existing.map((id) => String(reads.counterBefore(id))),
        existing.map(next),
      ),
    );
  return statements;
}

function changeStatements(state: BatchState): Statement[] {
  const { inserts, updates, deletes } = state.writes();
  // Counters first: a batch that waits for a counter has written nothing yet, so the batch that holds the counter never waits for
  // it.
  const statements = counterStatements(state, inserts.get(Workspace) ?? []);
  // Then deletions: another record may take the unique values of a deleted one within one batch.
  for (const model of MODELS.toReversed()) {
    const ids = deletes.get(model);
    if (ids) statements.push(deleteRows(model, ids));
  }
  const { usedGroups } = state.changes;
  if (usedGroups.size > 0) statements.push(USE_GROUPS.with([...usedGroups]));
  for (const model of MODELS) {
    const updated = updates.get(model);
    if (updated) statements.push(updateRows(model, updated));
    const inserted = inserts.get(model);
    if (inserted) statements.push(insertRows(model, inserted));
  }
  return [...statements, ...audienceStatements(state), ...sweepStatements(state, inserts)];
}

function audienceStatements({ changes }: BatchState): Statement[] {
  const [joined, frozen] = [changes.joinedAudiences, changes.frozenAudiences];
  const people = (pairs: readonly AudienceMember[]): [userIds: string[], groupIds: string[]] => [
    pairs.map(({ userId }) => userId),
    pairs.map(({ groupId }) => groupId),
  ];
  return [
    ...(joined.length > 0 ? JOIN_AUDIENCE.map((statement) => statement.with(...people(joined))) : []),
    ...(frozen.length > 0 ? [FREEZE_AUDIENCE.with(...people(frozen), jsonList(frozen.map(({ text }) => text)))] : []),
  ];
}

/**
 * A new record must not have the id of a record whose descendants are still being deleted, and a new member must not have earlier
 * memberships that are still being deleted: the sweep would delete the new children too. The check runs after the insertion, which
 * waits for a deletion of the same id that is not committed yet.
 */
function sweepStatements(state: BatchState, inserts: ReadonlyMap<Model, readonly Row[]>): Statement[] {
  const { sweeps } = state.changes;
  const statements = sweeps.length === 0 ? [] : [insertSweeps(sweeps)];
  const made = [...inserts.values()].flat();
  if (made.length > 0)
    statements.push(
      CHECK_NOT_SWEPT.with(
        made.map(({ model }) => model.name),
        made.map(({ id }) => id),
      ),
    );
  const members = inserts.get(WorkspaceMember) ?? [];
  if (members.length > 0)
    statements.push(
      CHECK_NOT_LEAVING.with(
        members.map(({ workspaceId }) => workspaceId),
        members.map(({ record }) => idIn(record, 'userId')),
      ),
    );
  return statements;
}

/**
 * Checks under the log's lock that no membership on which a decision depends has ended or changed since it was read, and that no
 * workspace was deleted. Keeps never.shown-outside and trash.workspace.read-only for changes that are under way meanwhile.
 */
function assumptionStatements({ changes }: BatchState): Statement[] {
  const { assumedRows, keptWorkspaces } = changes;
  return [
    ...assumedRows.flatMap(([model, rows]) => (rows.length === 0 ? [] : [checkUnchanged(model, rows)])),
    ...(keptWorkspaces.length === 0 ? [] : [CHECK_KEPT.with(keptWorkspaces)]),
  ];
}

function resultsOf(decided: readonly UnitDecision[], offsets: ReadonlyMap<Effect, number>, base: bigint): UnitResult[] {
  const positionOf = (effect: Effect): bigint => base + BigInt(offsets.get(effect) ?? 0);
  const resultOf = (one: UnitDecision): UnitResult => {
    if (one.kind === 'same') return resultOf(decided[one.as] as UnitDecision);
    if (one.kind !== 'applied') return one;
    const mains = one.mains.map((main) =>
      typeof main === 'bigint' ? { effect: null, syncId: main } : { effect: main, syncId: positionOf(main) },
    );
    const last = one.effects.at(-1);
    return {
      kind: 'applied',
      mains,
      weight: one.weight,
      lastId: last ? positionOf(last) : mains.reduce((max, { syncId }) => (syncId > max ? syncId : max), 0n),
    };
  };
  return decided.map(resultOf);
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
    completes: effect.completes,
    actorId: unit.principal.userId,
    clientId: unit.clientId,
    clientTxId: unit.clientTxId,
  };
}

function chunkOf(
  entries: readonly (NewEntry & { effect: Effect })[],
  { head, base: after, epoch }: Appended,
  createdAt: string,
): EntryChunk {
  const base = BigInt(after);
  const actions = entries.map((entry): StoredEntry => {
    const record = withJsonText(entry.effect.record, entry.record);
    return {
      syncId: (base + BigInt(entry.offset)).toString(),
      modelName: entry.modelName,
      modelId: entry.modelId,
      action: entry.action,
      data:
        entry.data === null ? record : withJsonText(JSON.parse(entry.data) as { [field: string]: unknown }, entry.data),
      groupId: entry.groupId,
      clientTxId: entry.clientTxId,
      clientId: entry.clientId,
      createdAt,
      eventId: entry.eventId,
      workspaceId: entry.workspaceId,
      actorId: entry.actorId,
      record,
      changed: entry.changed,
      completes: entry.completes,
    };
  });
  return {
    epoch,
    prev: head,
    first: (base + 1n).toString(),
    last: (base + BigInt(entries.length)).toString(),
    actions,
  };
}
