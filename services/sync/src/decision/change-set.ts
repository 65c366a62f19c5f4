import { idsIn, Workspace, type Model } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { NewSweep } from '../store/sweeps.ts';
import { key, sweepKey, type Audiences, type Creation, type Extent, type Relation } from './lookup.ts';
import type { Effect } from './unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** The changes of the units that are decided so far, and what they assume. None of them is written yet. */
export class ChangeSet {
  /** By model and id; null: deleted. */
  readonly #rows = new Map<Model, Map<string, Row | null>>();
  readonly #creations = new Map<string, Creation>();
  readonly #lastEntries = new Map<string, Effect>();
  readonly #sweeps = new Map<string, NewSweep>();
  readonly #audiences = new Map<string, AudienceChange>();
  readonly #numbers = new Map<string, number>();
  readonly #usedGroups = new Set<string>();
  #cascades = { records: 0, bytes: 0 };
  readonly #assumed = new Map<Model, Map<string, Row>>();
  readonly #kept = new Map<string, true>();
  /** What undoes the changes of the unit that is decided now. */
  #undos: (() => void)[] = [];

  /** Begins a unit: what earlier units changed stays. */
  begin(): void {
    this.#undos = [];
  }

  /** Undoes the changes of the unit, because it is refused. */
  undo(): void {
    for (const undo of this.#undos.toReversed()) undo();
  }

  /** Null: deleted; undefined: not changed. */
  row(model: Model, id: string): Row | null | undefined {
    return this.#rows.get(model)?.get(id);
  }

  /** By id; null: deleted. */
  rowsOf(model: Model): ReadonlyMap<string, Row | null> | undefined {
    return this.#rows.get(model);
  }

  /** Whether this batch writes a record with this id. */
  isWritten(model: Model, id: string): boolean {
    return (this.row(model, id) ?? null) !== null;
  }

  put(row: Row): void {
    this.#set(mapOf(this.#rows, row.model), row.id, row);
  }

  remove(row: Row): void {
    this.#set(mapOf(this.#rows, row.model), row.id, null);
  }

  /**
   * A decision depends on a row that is not locked. The transaction checks under the log's lock that the row has not changed since it
   * was read: a change that depends on a membership gets a position before the end of that membership, or is not committed. Undone
   * with its unit: a refused unit may assume rows that it wrote itself, which then do not exist.
   */
  assumeUnchanged(row: Row): void {
    const rows = mapOf(this.#assumed, row.model);
    if (rows.get(row.id) !== row) this.#set(rows, row.id, row);
  }

  /** By model, without the rows that the batch writes, because those are locked. */
  get assumedRows(): [model: Model, rows: Row[]][] {
    return [...this.#assumed].map(([model, rows]) => [
      model,
      [...rows.values()].filter(({ id }) => this.row(model, id) === undefined),
    ]);
  }

  /** A decision depends on a workspace that is not deleted, which is checked in the same way. */
  assumeKept(workspaceId: string): void {
    if (!this.#kept.has(workspaceId)) this.#set(this.#kept, workspaceId, true);
  }

  /** Without those that the batch itself changes, because their rows are locked. */
  get keptWorkspaces(): string[] {
    return [...this.#kept.keys()].filter((id) => this.row(Workspace, id) === undefined);
  }

  /** Records whose field holds the value, with the changes of this batch. */
  applyToRelated({ model, field, value, and }: Relation, read: readonly Row[]): readonly Row[] {
    const changed = this.#rows.get(model);
    if (!changed || changed.size === 0) return read;
    const matches = ({ record, workspaceId }: Row): boolean => {
      if (!idsIn(record, field).includes(value)) return false;
      return !and || (and.field === 'workspaceId' ? workspaceId : record[and.field]) === and.value;
    };
    const rows = read.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row && matches(row)) rows.push(row);
    return rows;
  }

  creation(model: Model, id: string): Creation | undefined {
    return this.#creations.get(key(model, id));
  }

  setCreation(model: Model, id: string, creation: Creation): void {
    this.#set(this.#creations, key(model, id), creation);
  }

  lastEntry(model: Model, id: string): Effect | undefined {
    return this.#lastEntries.get(key(model, id));
  }

  setLastEntry(effect: Effect): void {
    this.#set(this.#lastEntries, key(effect.model, effect.id), effect);
  }

  isBeingDeleted(model: Model, id: string): boolean {
    return this.#sweeps.has(sweepKey('delete', model, id));
  }

  addSweep(sweep: NewSweep): void {
    this.#set(this.#sweeps, sweepKey(sweep.kind, sweep.model, sweep.rootId), sweep);
  }

  get sweeps(): NewSweep[] {
    return [...this.#sweeps.values()];
  }

  /** Ids of groups that this batch creates: no group has used them before. */
  get usedGroups(): ReadonlySet<string> {
    return this.#usedGroups;
  }

  /** The id stays used, also when the batch deletes the record again. */
  useAsGroup(id: string): void {
    this.#usedGroups.add(id);
    this.#undos.push(() => this.#usedGroups.delete(id));
  }

  /** The last number that the batch took, by workspace. */
  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  setNumber(workspaceId: string, number: number): void {
    this.#set(this.#numbers, workspaceId, number);
  }

  /** Reserves room for a cascade in the commit; false when there is not enough left. */
  reserveCascade({ records, bytes }: Extent): boolean {
    const before = this.#cascades;
    const after = { records: before.records + records, bytes: before.bytes + bytes };
    if (after.records > SYNC_LIMITS.cascadeBatchRecordsMax || after.bytes > SYNC_LIMITS.cascadeBatchBytesMax)
      return false;
    this.#cascades = after;
    this.#undos.push(() => (this.#cascades = before));
    return true;
  }

  joinAudience(userId: string, groupId: string): void {
    const change = this.#changeAudience(userId);
    change.frozen.delete(groupId);
    change.joined.add(groupId);
  }

  freezeAudience(userId: string, groupId: string, text: string): void {
    const change = this.#changeAudience(userId);
    change.joined.delete(groupId);
    change.frozen.set(groupId, text);
  }

  #changeAudience(userId: string): AudienceChange {
    const before = this.#audiences.get(userId);
    const change = { joined: new Set(before?.joined), frozen: new Map(before?.frozen) };
    this.#set(this.#audiences, userId, change);
    return change;
  }

  /** The groups that see a person, with the changes of this batch. */
  applyToAudiences(userId: string, read: Audiences): Audiences {
    const change = this.#audiences.get(userId);
    if (!change) return read;
    const frozen = new Set(change.frozen.keys());
    return {
      live: read.live.union(change.joined).difference(frozen),
      frozen: read.frozen.union(frozen).difference(change.joined),
    };
  }

  get joinedAudiences(): AudienceMember[] {
    return [...this.#audiences].flatMap(([userId, { joined }]) => [...joined].map((groupId) => ({ userId, groupId })));
  }

  get frozenAudiences(): FrozenAudienceMember[] {
    return [...this.#audiences].flatMap(([userId, { frozen }]) =>
      [...frozen].map(([groupId, text]) => ({ userId, groupId, text })),
    );
  }

  /** Sets an entry of a map, whose values are never undefined. */
  #set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key);
    map.set(key, value);
    this.#undos.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
  }
}

function mapOf<T>(maps: Map<Model, Map<string, T>>, model: Model): Map<string, T> {
  return maps.getOrInsertComputed(model, () => new Map());
}

interface AudienceChange {
  /** Groups that see the person as they are from now on. */
  readonly joined: Set<string>;
  /** Groups that see the person as in this text from now on. */
  readonly frozen: Map<string, string>;
}

export interface AudienceMember {
  readonly userId: string;
  readonly groupId: string;
}

export interface FrozenAudienceMember extends AudienceMember {
  readonly text: string;
}
