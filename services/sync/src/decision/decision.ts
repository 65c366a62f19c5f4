import type { Model } from '@wts/models';
import { keyValues, type HoldStrength, type LockStrength, type RowOf } from '../store/rows.ts';
import type { Trash } from './archived-workspaces.ts';
import type { BatchState } from './batch-state.ts';
import type { ChangeSet } from './change-set.ts';
import type { Audiences, CascadeBounds, Creation, Extent, ExtentScope, Relation, UniqueKey } from './lookup.ts';
import type { ReadSet } from './read-set.ts';
import type { Effect, Unit } from './unit.ts';

/**
 * The decision of one unit: who asks, the database as the rules see it, and the entries that the unit makes.
 *
 * Rules query it as if everything were in memory: what was read, with the changes of this unit and of those before it in the batch. A
 * query for what was not read yet throws `LookupMissing`; the batch reads it under the lock that the query needs and decides again
 * from the start. A rule that refuses the unit throws `Refused`. So rules are plain code without a database, and still see every row
 * exactly as it is under lock.
 */
export class Decision {
  readonly unit: Unit;
  readonly reads: ReadSet;
  readonly changes: ChangeSet;
  readonly now: string;
  readonly bounds: CascadeBounds;
  readonly trash: Trash;
  /** In the order in which they get positions. */
  readonly effects: Effect[] = [];

  constructor({ reads, changes, now, bounds, trash }: BatchState, unit: Unit) {
    changes.begin();
    this.unit = unit;
    this.reads = reads;
    this.changes = changes;
    this.now = now;
    this.bounds = bounds;
    this.trash = trash;
  }

  get userId(): string {
    return this.unit.principal.userId;
  }

  /** Another service has decided the unit: the caller needs no permission. */
  get isByService(): boolean {
    return this.unit.authority === 'service';
  }

  /** Adds an entry. A later mutation of its record that changes nothing is answered with the position of the last one. */
  add(effect: Effect): void {
    this.effects.push(effect);
    this.changes.setLastEntry(effect);
  }

  /** The record with the changes so far; null when there is none. */
  row<M extends Model>(model: M, id: string, lock: HoldStrength): RowOf<M> | null {
    const changed = this.changes.row(model, id);
    return (changed === undefined ? this.reads.row(model, id, lock) : changed) as RowOf<M> | null;
  }

  /** Records whose field holds the value. */
  related<M extends Model>(relation: Relation<M>, lock: LockStrength): readonly RowOf<M>[] {
    return this.changes.applyToRelated(relation, this.reads.related(relation, lock)) as readonly RowOf<M>[];
  }

  /** Whether a record has this id, visible to the caller or not. The unique index checks this again at commit. */
  isTaken(model: Model, id: string): boolean {
    const changed = this.changes.row(model, id);
    return changed === undefined ? this.reads.fact({ kind: 'id-holder', model, id }) !== 'nothing' : changed !== null;
  }

  /** Whether a deleted record had this id, and its descendants are still being deleted. */
  isBeingDeleted(model: Model, id: string): boolean {
    return this.changes.isBeingDeleted(model, id) || this.reads.fact({ kind: 'id-holder', model, id }) === 'sweep';
  }

  /** Whether a group ever had this id: a workspace, a person, or a project, private or not. */
  wasUsedAsGroup(model: Model, id: string): boolean {
    return this.changes.usedGroups.has(id) || this.reads.fact({ kind: 'used-group', model, id });
  }

  /** The groups that see a person as they are, and those that see them as they were when they left. */
  audiences(userId: string): Audiences {
    return this.changes.applyToAudiences(userId, this.reads.audiences(userId));
  }

  /** The id of the one record that has these values, or null. The unique index checks this again at commit. */
  keyHolder(unique: UniqueKey): string | null {
    const changed = this.changes.rowsOf(unique.model);
    for (const row of changed?.values() ?? []) {
      const values = row && keyValues(row, unique.fields);
      if (row && values?.every((value, index) => value === unique.values[index])) return row.id;
    }
    const id = this.reads.fact({ kind: 'key', ...unique });
    return id !== null && changed?.has(id) ? null : id;
  }

  /** The position of a record's last entry, or the entry itself where this batch makes it. */
  lastEntry(model: Model, id: string): bigint | Effect {
    return this.changes.lastEntry(model, id) ?? this.reads.fact({ kind: 'last', model, id });
  }

  /** By whom a record was inserted, for an INSERT of an id that is taken. */
  creation(model: Model, id: string): Creation | null {
    return this.changes.creation(model, id) ?? this.reads.fact({ kind: 'creation', model, id });
  }

  /** How many records a cascade of each of these records would include. */
  extents(scope: ExtentScope, model: Model, ids: readonly string[]): Extent[] {
    const { recordsMax } = this.bounds;
    const lookups = ids.map((id) => ({ kind: 'extent' as const, scope, model, id, recordsMax }));
    this.reads.requireFacts(lookups);
    return lookups.map((lookup) => this.reads.fact(lookup));
  }

  /** Reserves room for a cascade in this commit; false when the cascade is too large for what is left. */
  reserveCascade(extent: Extent): boolean {
    const { recordsMax, bytesMax, levelsMax } = this.bounds;
    const { records, bytes, levels } = extent;
    if (records > recordsMax || bytes > bytesMax || levels > levelsMax) return false;
    return this.changes.reserveCascade(extent);
  }

  nextNumber(workspaceId: string): number {
    const read = this.reads.fact({ kind: 'counter', workspaceId });
    const next = (this.changes.numbers.get(workspaceId) ?? read ?? 0) + 1;
    this.changes.setNumber(workspaceId, next);
    return next;
  }
}
