import { User, type Model } from '@wts/models';
import type { Ranked } from '../store/list-windows.ts';
import type { HoldStrength, LockStrength, Row, RowOf } from '../store/rows.ts';
import { isInWindow, listKey, type ListName, type ListWindow } from './list-window.ts';
import {
  factKey,
  key,
  keyName,
  LookupMissing,
  rank,
  relationKey,
  type FactLookup,
  type Facts,
  type Relation,
  type UniqueKey,
} from './lookup.ts';
import { ChangeTooLarge } from './refusal.ts';
import type { Effect } from './unit.ts';

/**
 * What a batch has read of the database, and under which lock. A query for something that was not read yet, or not under the lock
 * that the query needs, throws `LookupMissing`.
 */
export class ReadSet {
  readonly #rows = new Map<string, { row: Row | null; lock: HoldStrength }>();
  readonly #related = new Map<string, { rows: readonly Row[]; lock: LockStrength }>();
  /** Relations with more rows than can be read, and why. */
  readonly #excesses = new Map<string, string>();
  readonly #idHolders = new Map<string, IdHolder>();
  readonly #usedGroups = new Map<string, boolean>();
  readonly #keyHolders = new Map<string, string | null>();
  readonly #counters = new Map<string, number | null>();
  readonly #audiences = new Map<string, Audiences>();
  readonly #facts = new Map<string, Facts[keyof Facts]>();
  readonly #creations = new Map<string, Creation | null>();
  readonly #listWindows = new Map<string, ListWindow[]>();
  readonly #pendingNumbers: LastNumbers | undefined;
  readonly #countedRows = new Set<Row>();
  #textLength = 0;

  /** `pendingNumbers`: the last task numbers that batches under way have taken. */
  constructor(pendingNumbers?: LastNumbers) {
    this.#pendingNumbers = pendingNumbers;
  }

  // Written when lookups have run.

  /** A locked row cannot change, so a row that was read under a stronger lock stays, and a weaker read is ignored. */
  addRow(model: Model, id: string, row: Row | null, lock: HoldStrength): void {
    const read = this.#rows.get(key(model, id));
    // The first read found no row that its callers may see; this one was for a caller who may see more.
    const isFound = read?.row === null && row !== null && read.lock === lock;
    if (!read || isFound || rank(read.lock) < rank(lock)) this.#rows.set(key(model, id), { row, lock });
  }

  addRelated(relation: Relation, rows: readonly Row[], lock: LockStrength): void {
    const read = this.#related.get(relationKey(relation));
    if (read && rank(read.lock) > rank(lock)) return;
    this.#related.set(relationKey(relation), { rows, lock });
    if (lock === 'look') return;
    for (const row of rows) this.addRow(relation.model, row.id, row, lock);
  }

  /** The relation has more rows than can be read: a change that needs them is refused for this reason. */
  addExcess(relation: Relation, reason: string): void {
    this.#excesses.set(relationKey(relation), reason);
  }

  addIdHolder(model: Model, id: string, holder: IdHolder): void {
    this.#idHolders.set(key(model, id), holder);
  }

  addUsedGroup(id: string, isUsed: boolean): void {
    this.#usedGroups.set(id, isUsed);
  }

  /** Null: no record has these values. */
  addKeyHolder(unique: UniqueKey, id: string | null): void {
    this.#keyHolders.set(keyName(unique), id);
  }

  /** Null: the workspace has no counter yet. */
  addCounter(workspaceId: string, last: number | null): void {
    this.#counters.set(workspaceId, last === null ? null : Math.max(last, this.#pendingNumbers?.get(workspaceId) ?? 0));
  }

  addAudiences(userId: string, live: Iterable<string>, frozen: Iterable<string>): void {
    this.#audiences.set(userId, { live: new Set(live), frozen: new Set(frozen) });
  }

  addFact(lookup: FactLookup, fact: Facts[keyof Facts]): void {
    this.#facts.set(factKey(lookup), fact);
  }

  addCreation(model: Model, id: string, creation: Creation | null): void {
    this.#creations.set(key(model, id), creation);
  }

  addListWindow(list: ListName, window: ListWindow): void {
    const windows = this.#listWindows.get(listKey(list));
    if (windows) windows.push(window);
    else this.#listWindows.set(listKey(list), [window]);
  }

  // Read by the decision state.

  row(model: Model, id: string, lock: HoldStrength): Row | null {
    const read = this.#rows.get(key(model, id));
    if (!read || rank(read.lock) < rank(lock)) throw new LookupMissing([{ kind: 'row', model, id, lock }]);
    this.countText(read.row);
    return read.row;
  }

  requireRows(model: Model, ids: readonly string[], lock: HoldStrength): void {
    const missing = ids.filter((id) => {
      const read = this.#rows.get(key(model, id));
      return !read || rank(read.lock) < rank(lock);
    });
    if (missing.length > 0) throw new LookupMissing(missing.map((id) => ({ kind: 'row', model, id, lock })));
  }

  related(relation: Relation, lock: LockStrength): readonly Row[] {
    this.#refuseExcess(relation);
    const read = this.#related.get(relationKey(relation));
    if (!read || rank(read.lock) < rank(lock)) throw new LookupMissing([{ kind: 'related', ...relation, lock }]);
    if (read.lock !== 'look') for (const row of read.rows) this.countText(row);
    return read.rows;
  }

  requireRelated(relations: readonly Relation[], lock: LockStrength): void {
    for (const relation of relations) this.#refuseExcess(relation);
    const missing = relations.filter((relation) => {
      const read = this.#related.get(relationKey(relation));
      return !read || rank(read.lock) < rank(lock);
    });
    if (missing.length > 0)
      throw new LookupMissing(missing.map((relation) => ({ kind: 'related', ...relation, lock })));
  }

  isExcess(relation: Relation): boolean {
    return this.#excesses.size > 0 && this.#excesses.has(relationKey(relation));
  }

  #refuseExcess(relation: Relation): void {
    const reason = this.#excesses.size > 0 ? this.#excesses.get(relationKey(relation)) : undefined;
    if (reason !== undefined) throw new ChangeTooLarge(reason);
  }

  idHolder(model: Model, id: string): IdHolder {
    const holder = this.#idHolders.get(key(model, id));
    if (holder === undefined) throw new LookupMissing([{ kind: 'id-holder', model, id }]);
    return holder;
  }

  wasUsedAsGroup(model: Model, id: string): boolean {
    const wasUsed = this.#usedGroups.get(id);
    if (wasUsed === undefined) throw new LookupMissing([{ kind: 'used-group', model, id }]);
    return wasUsed;
  }

  /** The id of the record that has the values of a unique key, or null. */
  keyHolder(unique: UniqueKey): string | null {
    const id = this.#keyHolders.get(keyName(unique));
    if (id === undefined) throw new LookupMissing([{ kind: 'key', ...unique }]);
    return id;
  }

  /** The counter of a workspace; null when it has none yet. */
  counter(workspaceId: string): number | null {
    const counter = this.#counters.get(workspaceId);
    if (counter === undefined) throw new LookupMissing([{ kind: 'counter', workspaceId }]);
    return counter;
  }

  /** The groups that see a person. The person's row must be locked first, so that these groups do not change until commit. */
  audiences(userId: string): Audiences {
    const read = this.#audiences.get(userId);
    const person = this.#rows.get(key(User, userId));
    if (!read || person?.lock !== 'write') throw new LookupMissing([{ kind: 'audience', userId }]);
    return read;
  }

  fact<K extends keyof Facts>(lookup: FactLookup & { readonly kind: K }): Facts[K] {
    const fact = this.#facts.get(factKey(lookup));
    if (fact === undefined) throw new LookupMissing([lookup]);
    return fact as Facts[K];
  }

  requireFacts(lookups: readonly FactLookup[]): void {
    const missing = lookups.filter((lookup) => !this.#facts.has(factKey(lookup)));
    if (missing.length > 0) throw new LookupMissing(missing);
  }

  creation(model: Model, id: string): Creation | null {
    const creation = this.#creations.get(key(model, id));
    if (creation === undefined) throw new LookupMissing([{ kind: 'creation', model, id }]);
    return creation;
  }

  /** What was read of the list around a place. */
  listWindow(list: ListName, at: Ranked): ListWindow {
    const found = this.#listWindows.get(listKey(list))?.find((window) => isInWindow(window, at));
    if (!found) throw new LookupMissing([{ kind: 'list-window', list, at }]);
    return found;
  }

  // Read by the writer, after all decisions.

  /** False for a batch that is decided from the cache. */
  get hasRows(): boolean {
    return this.#rows.size > 0;
  }

  /** A record as it was before this batch; null when there was none, or it was not read. */
  rowBefore<M extends Model>(model: M, id: string): RowOf<M> | null {
    return (this.#rows.get(key(model, id))?.row ?? null) as RowOf<M> | null;
  }

  /** The counter of a workspace as it was read; null when it has none yet, or it was not read. */
  counterBefore(workspaceId: string): number | null {
    return this.#counters.get(workspaceId) ?? null;
  }

  // The length of the text that each unit reads, which counts as part of the unit's cost.

  /** Counts the text of a row for the unit that is decided now, unless an earlier unit read the row too. */
  countText(row: Row | null): void {
    if (!row || this.#countedRows.has(row)) return;
    this.#countedRows.add(row);
    this.#textLength += row.text.length;
  }

  /** The length of the text that was counted since the last call. */
  takeTextLength(): number {
    const length = this.#textLength;
    this.#textLength = 0;
    return length;
  }

  restartTextCount(): void {
    this.#countedRows.clear();
    this.#textLength = 0;
  }
}

/** What has an id: a record, a deleted record whose descendants are still being deleted, or nothing. */
export type IdHolder = 'record' | 'sweep' | 'nothing';

/** The groups that see a person. */
export interface Audiences {
  /** As the person is. */
  readonly live: ReadonlySet<string>;
  /** As the person was when they left. */
  readonly frozen: ReadonlySet<string>;
}

/** By workspace. */
export interface LastNumbers {
  get(workspaceId: string): number | undefined;
}

/** By whom a record was inserted. */
export interface Creation {
  readonly clientId: string;
  readonly actorId: string;
  /** Its entry in the log: the position, or the entry itself while it has none. */
  readonly entry: bigint | Effect;
}
