import { User, type Model } from '@wts/models';
import type { Ranked } from '../store/list-windows.ts';
import type { HoldStrength, LockStrength, Row, RowOf } from '../store/rows.ts';
import { isInWindow, listKey, type ListName, type ListWindow } from './list-window.ts';
import {
  factKey,
  key,
  LookupMissing,
  rank,
  relationKey,
  type Audiences,
  type FactLookup,
  type Facts,
  type Relation,
} from './lookup.ts';
import { ChangeTooLarge } from './refusal.ts';

/**
 * What a batch has read of the database, and under which lock. A query for something that was not read yet, or not under the lock
 * that the query needs, throws `LookupMissing`.
 */
export class ReadSet {
  readonly #rows = new Map<string, { row: Row | null; lock: HoldStrength }>();
  readonly #related = new Map<string, { rows: readonly Row[]; lock: LockStrength }>();
  /** Relations with more rows than can be read, and why. */
  readonly #excesses = new Map<string, string>();
  readonly #facts = new Map<string, Facts[keyof Facts]>();
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

  addFact(lookup: FactLookup, fact: Facts[keyof Facts]): void {
    const pending = lookup.kind === 'counter' ? this.#pendingNumbers?.get(lookup.workspaceId) : undefined;
    this.#facts.set(factKey(lookup), pending === undefined || fact === null ? fact : Math.max(Number(fact), pending));
  }

  addListWindow(list: ListName, window: ListWindow): void {
    this.#listWindows.getOrInsertComputed(listKey(list), () => []).push(window);
  }

  // Queried by decisions.

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

  /** The groups that see a person. The person's row must be locked first, so that these groups do not change until commit. */
  audiences(userId: string): Audiences {
    if (this.#rows.get(key(User, userId))?.lock !== 'write') throw new LookupMissing([{ kind: 'audience', userId }]);
    return this.fact({ kind: 'audience', userId });
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
    return (this.#facts.get(factKey({ kind: 'counter', workspaceId })) ?? null) as number | null;
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

/** By workspace. */
export interface LastNumbers {
  get(workspaceId: string): number | undefined;
}
