import { idsIn, MODELS, type Model } from '@wts/models';
import { keyValues, type HoldStrength, type LockStrength, type Row, type RowOf } from '../store/rows.ts';
import type { NewSweep } from '../store/sweeps.ts';
import { Assumptions } from './assumptions.ts';
import { ChangeSet } from './change-set.ts';
import {
  CASCADE_BOUNDS,
  keyName,
  type CascadeBounds,
  type Extent,
  type ExtentScope,
  type FactLookup,
  type Facts,
  type Relation,
  type UniqueKey,
} from './lookup.ts';
import type { Audiences, Creation, ReadSet } from './read-set.ts';
import { UndoLog } from './undo-log.ts';
import type { Effect } from './unit.ts';

/**
 * The database as the rules of a batch see it: what was read (`ReadSet`), with the changes of the units decided so far
 * (`ChangeSet`), and the rows that must still be the same at commit (`Assumptions`).
 *
 * Rules query it as if everything were in memory. A query for what was not read yet throws `LookupMissing`; the batch reads it
 * under the lock that the query needs and decides again from the start. So rules are plain code without a database, and still
 * see every row exactly as it is under lock.
 */
export class DecisionState {
  readonly reads: ReadSet;
  readonly changes: ChangeSet;
  readonly #undoLog = new UndoLog();
  readonly #assumptions = new Assumptions(this.#undoLog);
  /** When the batch is decided. */
  readonly now: string;
  readonly bounds: CascadeBounds;

  constructor(reads: ReadSet, now: string, bounds: CascadeBounds = CASCADE_BOUNDS) {
    this.reads = reads;
    this.changes = new ChangeSet(this.#undoLog);
    this.now = now;
    this.bounds = bounds;
  }

  // What the rules query.

  /** The record with the changes of earlier units; null when there is none. */
  row<M extends Model>(model: M, id: string, lock: HoldStrength): RowOf<M> | null {
    const changed = this.changes.row(model, id);
    return (changed === undefined ? this.reads.row(model, id, lock) : changed) as RowOf<M> | null;
  }

  /** Whether a record has this id, visible to the caller or not. The unique index checks this again at commit. */
  isTaken(model: Model, id: string): boolean {
    const changed = this.changes.row(model, id);
    return changed === undefined ? this.reads.idHolder(model, id) !== 'nothing' : changed !== null;
  }

  /** Whether a deleted record had this id, and its descendants are still being deleted. */
  isBeingDeleted(model: Model, id: string): boolean {
    return this.changes.isBeingDeleted(model, id) || this.reads.idHolder(model, id) === 'sweep';
  }

  /** Whether a group ever had this id: a workspace, a person, or a project, private or not. */
  wasUsedAsGroup(model: Model, id: string): boolean {
    return this.changes.usedGroups.has(id) || this.reads.wasUsedAsGroup(model, id);
  }

  /** Whether this batch writes a record with this id. */
  isWritten(model: Model, id: string): boolean {
    return (this.changes.row(model, id) ?? null) !== null;
  }

  /** Records whose field holds the value. */
  related<M extends Model>(relation: Relation<M>, lock: LockStrength): readonly RowOf<M>[] {
    return this.#related(relation, lock) as readonly RowOf<M>[];
  }

  #related(relation: Relation, lock: LockStrength): readonly Row[] {
    const read = this.reads.related(relation, lock);
    const { model, field, value, and } = relation;
    const changed = this.changes.rowsOf(model);
    if (!changed || changed.size === 0) return read;
    const matches = ({ record, workspaceId }: Row): boolean => {
      if (!idsIn(record, field).includes(value)) return false;
      return !and || (and.field === 'workspaceId' ? workspaceId : record[and.field]) === and.value;
    };
    const rows = read.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row && matches(row)) rows.push(row);
    return rows;
  }

  /** Whether a relation has more rows than can be read. */
  isExcess(relation: Relation): boolean {
    return this.reads.isExcess(relation);
  }

  /** Announces the relations that are queried next, so that all of them are read in one round and not one by one. */
  requireRelated(relations: readonly Relation[], lock: LockStrength): void {
    this.reads.requireRelated(relations, lock);
  }

  /** Announces the rows that are queried next, so that all of them are read in one round. */
  requireRows(model: Model, ids: readonly string[], lock: HoldStrength): void {
    this.reads.requireRows(model, ids, lock);
  }

  /** The groups that see a person as they are, and those that see them as they were when they left. */
  audiences(userId: string): Audiences {
    return this.changes.applyToAudiences(userId, this.reads.audiences(userId));
  }

  /** The id of the one record that has these values, or null. The unique index checks this again at commit. */
  keyHolder(unique: UniqueKey): string | null {
    const changed = this.changes.rowsOf(unique.model);
    const name = keyName(unique);
    for (const row of changed?.values() ?? []) {
      const values = row && keyValues(row, unique.fields);
      if (values && keyName({ ...unique, values }) === name) return row.id;
    }
    const id = this.reads.keyHolder(unique);
    return id !== null && changed?.has(id) ? null : id;
  }

  fact<K extends keyof Facts>(lookup: FactLookup & { readonly kind: K }): Facts[K] {
    return this.reads.fact<K>(lookup);
  }

  /** The position of a record's last entry, or the entry itself where this batch makes it. */
  lastEntry(model: Model, id: string): bigint | Effect {
    return this.changes.lastEntry(model, id) ?? this.reads.fact({ kind: 'last', model, id });
  }

  /** How many records a cascade of each of these records would include. */
  extents(scope: ExtentScope, model: Model, ids: readonly string[]): Extent[] {
    const { recordsMax } = this.bounds;
    const lookups = ids.map((id) => ({ kind: 'extent' as const, scope, model, id, recordsMax }));
    this.reads.requireFacts(lookups);
    return lookups.map((lookup) => this.reads.fact(lookup));
  }

  /** By whom a record was inserted, for an INSERT of an id that is taken. */
  creation(model: Model, id: string): Creation | null {
    return this.changes.creation(model, id) ?? this.reads.creation(model, id);
  }

  // What the rules change.

  put(row: Row): void {
    this.changes.setRow(row.model, row.id, row);
  }

  remove(row: Row): void {
    this.changes.setRow(row.model, row.id, null);
  }

  recordCreation({ model, id }: Row, creation: Creation): void {
    this.changes.setCreation(model, id, creation);
  }

  /** Records the entries of a mutation: a later mutation that changes nothing is answered with the position of the last one. */
  recordEntries(effects: readonly Effect[]): void {
    this.changes.addEntries(effects);
  }

  /** Marks the id as used by a group. It stays used when a later unit of the batch deletes the record. */
  useAsGroup(id: string): void {
    this.changes.useAsGroup(id);
  }

  /** The group sees the person as they are from now on. */
  joinAudience(userId: string, groupId: string): void {
    this.changes.joinAudience(userId, groupId);
  }

  /** The group sees the person as in this text from now on. */
  freezeAudience(userId: string, groupId: string, text: string): void {
    this.changes.freezeAudience(userId, groupId, text);
  }

  /** Leaves the rest of a deletion or a move to the sweeper (`sweeps/`), which works after the commit. */
  addSweep(sweep: NewSweep): void {
    this.changes.addSweep(sweep);
  }

  /** Reserves room for a cascade in this commit; false when the cascade is too large for what is left. */
  reserveCascade(extent: Extent): boolean {
    const { recordsMax, bytesMax, levelsMax } = this.bounds;
    const { records, bytes, levels } = extent;
    if (records > recordsMax || bytes > bytesMax || levels > levelsMax) return false;
    return this.changes.reserveCascade(extent);
  }

  nextNumber(workspaceId: string): number {
    const read = this.reads.counter(workspaceId);
    const next = (this.changes.numbers.get(workspaceId) ?? read ?? 0) + 1;
    this.changes.setNumber(workspaceId, next);
    return next;
  }

  /** The decision depends on a row that is not locked; the transaction checks at commit that the row is still the same. */
  assumeUnchanged(row: Row): void {
    this.#assumptions.add(row);
  }

  // How a batch is decided.

  /** Undoes the changes of a unit when it is refused. */
  undoIfRefused<T extends { ok: boolean }>(decide: () => T): T {
    this.#undoLog.begin();
    const outcome = decide();
    if (!outcome.ok) this.#undoLog.undo();
    return outcome;
  }

  /** Discards what was changed and keeps what was read, to decide all units again. */
  discardChanges(): void {
    this.changes.clear();
    this.#assumptions.clear();
    this.reads.restartTextCount();
  }

  // What is to be written, and checked.

  writes(): { inserts: Map<Model, Row[]>; updates: Map<Model, Row[]>; deletes: Map<Model, string[]> } {
    const inserts = new Map<Model, Row[]>();
    const updates = new Map<Model, Row[]>();
    const deletes = new Map<Model, string[]>();
    for (const model of MODELS) {
      for (const [id, row] of this.changes.rowsOf(model) ?? []) {
        const before = this.reads.rowBefore(model, id);
        if (row && before) append(updates, model, row);
        else if (row) append(inserts, model, row);
        else if (before) append(deletes, model, id);
      }
    }
    return { inserts, updates, deletes };
  }

  /** Rows that must be the same at commit, by model, without the rows that the batch writes, because those are locked. */
  assumedRows(): [model: Model, rows: Row[]][] {
    return this.#assumptions.rows((model, id) => this.changes.row(model, id) !== undefined);
  }
}

function append<T>(lists: Map<Model, T[]>, model: Model, item: T): void {
  const list = lists.get(model);
  if (list) list.push(item);
  else lists.set(model, [item]);
}
