import { LIMITS } from '@wts/contracts';
import { idsIn, MODELS, User, type Model } from '@wts/models';
import { keyValues, type HoldStrength, type LockStrength, type Row, type RowOf } from '../store/rows.ts';
import type { NewSweep } from '../store/sweeps.ts';
import {
  Known,
  type AudienceMove,
  type Audiences,
  type Creation,
  type FrozenAudience,
  type JoinedAudience,
  type LastNumbers,
  type Taken,
} from './known.ts';
import {
  CASCADE_BOUNDS,
  factKey,
  key,
  keyName,
  rank,
  relationKey,
  sweepKey,
  Unread,
  type CascadeBounds,
  type Extent,
  type ExtentWay,
  type FactNeed,
  type Facts,
  type Relation,
  type UniqueKey,
} from './need.ts';
import type { Effect } from './unit.ts';

export { forAll, key, relationKey, Unread, within, type Extent, type Need, type Relation } from './need.ts';

/**
 * What a batch of mutations knows of the database, and what it has changed so far.
 *
 * Rules ask the world as if everything were in memory. When something was not read yet, the question throws `Unread`;
 * the batch reads it under the lock asked for and decides again from the start. So rules are plain code without a
 * database, and still see every row exactly as it is under lock.
 */
export class World extends Known {
  /** Changes since the last read, by model and id; null: deleted. */
  readonly #changed = new Map<Model, Map<string, Row | null>>();
  readonly #made = new Map<string, Creation>();
  #journal: (() => void)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #moved = new Map<string, AudienceMove>();
  readonly #lasts = new Map<string, Effect>();
  readonly #sweeps = new Map<string, NewSweep>();
  #carried = { records: 0, bytes: 0 };
  readonly #relied = new Map<Model, Map<string, Row>>();

  readonly #bounds: CascadeBounds;

  /** `ahead`: how far batches that are still under way have numbered tasks. */
  constructor(ahead?: LastNumbers, bounds: CascadeBounds = CASCADE_BOUNDS) {
    super(ahead);
    this.#bounds = bounds;
  }

  // What the rules ask.

  /** The record as the mutations before this one leave it; null when there is none. */
  row<M extends Model>(model: M, id: string, lock: HoldStrength): RowOf<M> | null {
    return this.#rowOf(model, id, lock) as RowOf<M> | null;
  }

  #rowOf(model: Model, id: string, lock: HoldStrength): Row | null {
    const changed = this.#changed.get(model)?.get(id);
    if (changed !== undefined) return changed;
    const read = this.rows.get(key(model, id));
    if (!read || rank(read.lock) < rank(lock)) throw new Unread([{ kind: 'row', model, id, lock }]);
    this.charge(read.row);
    return read.row;
  }

  /** Whether there is a record with this id, whoever may see it. The unique index has the last word. */
  isTaken(model: Model, id: string): boolean {
    const changed = this.#changed.get(model)?.get(id);
    return changed === undefined ? this.#takenBy(model, id) !== 'nothing' : changed !== null;
  }

  /** Whether there was a record with this id whose parts are still being deleted. */
  isSwept(model: Model, id: string): boolean {
    return this.#sweeps.has(sweepKey('delete', model, id)) || this.#takenBy(model, id) === 'sweep';
  }

  #takenBy(model: Model, id: string): Taken {
    const taken = this.taken.get(key(model, id));
    if (taken === undefined) throw new Unread([{ kind: 'taken', model, id }]);
    return taken;
  }

  /** Whether this id ever named a group: a workspace, a person or a project, be it private or not. */
  isUsed(model: Model, id: string): boolean {
    if (this.newlyUsed.has(id)) return true;
    const isUsed = this.used.get(id);
    if (isUsed === undefined) throw new Unread([{ kind: 'used', model, id }]);
    return isUsed;
  }

  /** Whether this batch writes a record with this id. */
  makes(model: Model, id: string): boolean {
    return (this.#changed.get(model)?.get(id) ?? null) !== null;
  }

  /** Records whose field holds the value. */
  related<M extends Model>(model: M, field: string, value: string, lock: LockStrength): readonly RowOf<M>[] {
    return this.relatedBy({ model, field, value }, lock);
  }

  relatedBy<M extends Model>(relation: Relation<M>, lock: LockStrength): readonly RowOf<M>[] {
    return this.#rowsBy(relation, lock) as readonly RowOf<M>[];
  }

  #rowsBy(relation: Relation, lock: LockStrength): readonly Row[] {
    this.refuseExcess([relation]);
    const read = this.sets.get(relationKey(relation));
    if (!read || rank(read.lock) < rank(lock)) throw new Unread([{ kind: 'related', ...relation, lock }]);
    if (read.lock !== 'look') for (const row of read.rows) this.charge(row);
    const { model, field, value, and } = relation;
    const changed = this.#changed.get(model);
    if (!changed || changed.size === 0) return read.rows;
    const holds = ({ record, workspaceId }: Row): boolean => {
      if (!idsIn(record, field).includes(value)) return false;
      return !and || (and.field === 'workspaceId' ? workspaceId : record[and.field]) === and.value;
    };
    const rows = read.rows.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row && holds(row)) rows.push(row);
    return rows;
  }

  /** Says what will be asked next, so that all of it is read in one round and not one by one. */
  expect(relations: readonly Relation[], lock: LockStrength): void {
    this.refuseExcess(relations);
    const isRead = (read?: { lock: LockStrength }): boolean => read !== undefined && rank(read.lock) >= rank(lock);
    const unread = relations.filter((relation) => !isRead(this.sets.get(relationKey(relation))));
    if (unread.length > 0) throw new Unread(unread.map((relation) => ({ kind: 'related', ...relation, lock })));
  }

  /** Says which rows will be asked for, so that all of them are read in one round. */
  expectRows(model: Model, ids: readonly string[], lock: HoldStrength): void {
    const unread = ids.filter((id) => {
      const read = this.rows.get(key(model, id));
      return !read || rank(read.lock) < rank(lock);
    });
    if (unread.length > 0) throw new Unread(unread.map((id) => ({ kind: 'row', model, id, lock })));
  }

  /**
   * Who sees a person as they are now, and who as they were when they left. The person is held with it, before it is read:
   * all who ask take their turn, and what they were told does not change until commit.
   */
  audience(userId: string): Audiences {
    const read = this.audiences.get(userId);
    const person = this.rows.get(key(User, userId));
    if (!read || person?.lock !== 'write') throw new Unread([{ kind: 'audience', userId }]);
    const moved = this.#moved.get(userId);
    if (!moved) return read;
    const out = new Set(moved.out.keys());
    return {
      live: read.live.union(moved.in).difference(out),
      frozen: read.frozen.union(out).difference(moved.in),
    };
  }

  /** The record that has these values, of which there is one at most. Its unique index has the last word. */
  keyHolder(unique: UniqueKey): string | null {
    const changed = this.#changed.get(unique.model);
    const name = keyName(unique);
    for (const row of changed?.values() ?? []) {
      const values = row && keyValues(row, unique.fields);
      if (values && keyName({ ...unique, values }) === name) return row.id;
    }
    const id = this.keys.get(name);
    if (id === undefined) throw new Unread([{ kind: 'key', ...unique }]);
    return id !== null && changed?.has(id) ? null : id;
  }

  fact<K extends keyof Facts>(need: FactNeed & { readonly kind: K }): Facts[K] {
    const fact = this.facts.get(factKey(need));
    if (fact === undefined) throw new Unread([need]);
    return fact as Facts[K];
  }

  /** The place of a record's last entry, or the entry where this batch has made it. */
  last(model: Model, id: string): bigint | Effect {
    return this.#lasts.get(key(model, id)) ?? this.fact({ kind: 'last', model, id });
  }

  /** How much hangs below records. */
  extents(way: ExtentWay, model: Model, ids: readonly string[]): Extent[] {
    const { recordsMax } = this.#bounds;
    const needs = ids.map((id) => ({ kind: 'extent' as const, way, model, id, recordsMax }));
    const unread = needs.filter((need) => !this.facts.has(factKey(need)));
    if (unread.length > 0) throw new Unread(unread);
    return needs.map((need) => this.fact(need));
  }

  /** Whether this much may go in one commit with what the batch carries already. */
  carries({ records, bytes, levels }: Extent): boolean {
    const { recordsMax, bytesMax, levelsMax } = this.#bounds;
    if (records > recordsMax || bytes > bytesMax || levels > levelsMax) return false;
    const before = this.#carried;
    const after = { records: before.records + records, bytes: before.bytes + bytes };
    if (after.records > LIMITS.cascadeGroupRecordsMax || after.bytes > LIMITS.cascadeGroupBytesMax) return false;
    this.#carried = after;
    this.#journal.push(() => (this.#carried = before));
    return true;
  }

  get bounds(): CascadeBounds {
    return this.#bounds;
  }

  /** Who made a record, when an INSERT meets one that exists. */
  creation(model: Model, id: string): Creation | null {
    const made = this.#made.get(key(model, id));
    if (made) return made;
    const read = this.creations.get(key(model, id));
    if (read === undefined) throw new Unread([{ kind: 'creation', model, id }]);
    return read;
  }

  /**
   * Says that a decision rests on a row that is not held. It must still be as it was when the batch takes its place in the
   * log: what is decided on a membership stands before the end of that membership, or not at all.
   */
  rely(row: Row): void {
    let relied = this.#relied.get(row.model);
    if (!relied) this.#relied.set(row.model, (relied = new Map<string, Row>()));
    const rows = relied;
    const before = rows.get(row.id);
    if (before === row) return;
    rows.set(row.id, row);
    // A unit that is refused may have relied on what it made itself, which will never be.
    this.#journal.push(() => (before === undefined ? rows.delete(row.id) : rows.set(row.id, before)));
  }

  // What the rules do.

  put(row: Row): void {
    this.#change(row.model, row.id, row);
  }

  /** Says who made a record, for whoever makes it again. */
  keepMaker({ model, id }: Row, creation: Creation): void {
    const name = key(model, id);
    const before = this.#made.get(name);
    this.#made.set(name, creation);
    this.#journal.push(() => (before === undefined ? this.#made.delete(name) : this.#made.set(name, before)));
  }

  /** For ever, also when the record is gone again before the batch is written. */
  use(id: string): void {
    this.newlyUsed.add(id);
    this.#journal.push(() => this.newlyUsed.delete(id));
  }

  remove(row: Row): void {
    this.#change(row.model, row.id, null);
  }

  /** From here on the group sees the person as they are. */
  joinAudience(userId: string, groupId: string): void {
    const moved = this.#moveAudience(userId);
    moved.out.delete(groupId);
    moved.in.add(groupId);
  }

  /** From here on the group sees the person as in this text. */
  freezeAudience(userId: string, groupId: string, text: string): void {
    const moved = this.#moveAudience(userId);
    moved.in.delete(groupId);
    moved.out.set(groupId, text);
  }

  #moveAudience(userId: string): AudienceMove {
    const before = this.#moved.get(userId);
    const moved = { in: new Set(before?.in), out: new Map(before?.out) };
    this.#moved.set(userId, moved);
    this.#journal.push(() => (before === undefined ? this.#moved.delete(userId) : this.#moved.set(userId, before)));
    return moved;
  }

  /** What is left of a deletion or a move is for `sweeps/`. */
  sweep(sweep: NewSweep): void {
    const name = sweepKey(sweep.kind, sweep.model, sweep.rootId);
    const before = this.#sweeps.get(name);
    this.#sweeps.set(name, sweep);
    this.#journal.push(() => (before === undefined ? this.#sweeps.delete(name) : this.#sweeps.set(name, before)));
  }

  /** Says which entries a record got. */
  keepEntries(effects: readonly Effect[]): void {
    for (const effect of effects) {
      const name = key(effect.model, effect.id);
      const before = this.#lasts.get(name);
      this.#lasts.set(name, effect);
      this.#journal.push(() => (before === undefined ? this.#lasts.delete(name) : this.#lasts.set(name, before)));
    }
  }

  nextNumber(workspaceId: string): number {
    const read = this.counters.get(workspaceId);
    if (read === undefined) throw new Unread([{ kind: 'counter', workspaceId }]);
    const before = this.#numbers.get(workspaceId);
    const next = (before ?? read ?? 0) + 1;
    this.#numbers.set(workspaceId, next);
    this.#journal.push(() =>
      before === undefined ? this.#numbers.delete(workspaceId) : this.#numbers.set(workspaceId, before),
    );
    return next;
  }

  /** Runs a unit; when it is refused, the world is as before it. */
  attempt<T extends { ok: boolean }>(unit: () => T): T {
    this.#journal = [];
    const outcome = unit();
    if (!outcome.ok) for (const undo of this.#journal.toReversed()) undo();
    return outcome;
  }

  /** Forgets what was changed, not what was read: to decide again. */
  startAgain(): void {
    this.#changed.clear();
    this.#made.clear();
    this.#numbers.clear();
    this.newlyUsed.clear();
    this.#moved.clear();
    this.#lasts.clear();
    this.#sweeps.clear();
    this.#carried = { records: 0, bytes: 0 };
    this.#relied.clear();
    this.charged.clear();
    this.takeTextRead();
  }

  // What is to be written.

  writes(): { inserts: Map<Model, Row[]>; updates: Map<Model, Row[]>; deletes: Map<Model, string[]> } {
    const inserts = new Map<Model, Row[]>();
    const updates = new Map<Model, Row[]>();
    const deletes = new Map<Model, string[]>();
    for (const model of MODELS) {
      for (const [id, row] of this.#changed.get(model) ?? []) {
        const before = this.rows.get(key(model, id))?.row ?? null;
        if (row && before) add(updates, model, row);
        else if (row) add(inserts, model, row);
        else if (before) add(deletes, model, id);
      }
    }
    return { inserts, updates, deletes };
  }

  /** What was relied on, by model. What this batch writes itself it holds. */
  relied(): [model: Model, rows: Row[]][] {
    return [...this.#relied].map(([model, rows]) => {
      const own = this.#changed.get(model);
      return [model, [...rows.values()].filter(({ id }) => !own?.has(id))];
    });
  }

  newNumbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  newAudiences(): { readonly joined: JoinedAudience[]; readonly frozen: FrozenAudience[] } {
    const moved = [...this.#moved];
    return {
      joined: moved.flatMap(([userId, to]) => [...to.in].map((groupId) => ({ userId, groupId }))),
      frozen: moved.flatMap(([userId, to]) => [...to.out].map(([groupId, text]) => ({ userId, groupId, text }))),
    };
  }

  newSweeps(): NewSweep[] {
    return [...this.#sweeps.values()];
  }

  #change(model: Model, id: string, row: Row | null): void {
    let changed = this.#changed.get(model);
    if (!changed) this.#changed.set(model, (changed = new Map<string, Row | null>()));
    const changes = changed;
    const before = changes.get(id);
    changes.set(id, row);
    this.#journal.push(() => (before === undefined ? changes.delete(id) : changes.set(id, before)));
  }
}

function add<T>(lists: Map<Model, T[]>, model: Model, item: T): void {
  const list = lists.get(model);
  if (list) list.push(item);
  else lists.set(model, [item]);
}
