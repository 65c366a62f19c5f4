import { MODELS, type Model } from '@wts/models';
import type { HoldStrength, LockStrength, Row } from '../store/rows.ts';
import type { Effect } from './unit.ts';

/**
 * What a group of mutations knows of the database, and what it has changed so far.
 *
 * Rules ask the world as if everything were in memory. When something was not read yet, the question throws `Unread`;
 * the group reads it under the lock asked for and decides again from the start. So rules are plain code without a
 * database, and still see every row exactly as it is under lock.
 */
export class World {
  readonly #rows = new Map<string, { row: Row | null; lock: HoldStrength }>();
  readonly #taken = new Map<string, boolean>();
  readonly #related = new Map<string, { rows: readonly Row[]; lock: LockStrength }>();
  readonly #counters = new Map<string, number | null>();
  readonly #audiences = new Map<string, Set<string>>();
  readonly #creations = new Map<string, Creation | null>();

  /** Changes since the last read, by model and id; null: deleted. */
  readonly #changed = new Map<Model, Map<string, Row | null>>();
  readonly #made = new Map<string, Creation>();
  #journal: (() => void)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #joined = new Map<string, Set<string>>();
  readonly #relied = new Map<Model, Map<string, Row>>();

  readonly #ahead: LastNumbers | undefined;

  /** `ahead`: how far groups that are still under way have numbered tasks. */
  constructor(ahead?: LastNumbers) {
    this.#ahead = ahead;
  }

  // What was read.

  /** A row that is held cannot change, so the stronger lock stays and a weaker reading adds nothing. */
  keepRow(model: Model, id: string, row: Row | null, lock: HoldStrength): void {
    const known = this.#rows.get(key(model, id));
    if (!known || rank(known.lock) < rank(lock)) this.#rows.set(key(model, id), { row, lock });
  }

  keepTaken(model: Model, id: string, isTaken: boolean): void {
    this.#taken.set(key(model, id), isTaken);
  }

  keepRelated(relation: Relation, rows: readonly Row[], lock: LockStrength): void {
    const known = this.#related.get(relationKey(relation));
    if (known && rank(known.lock) > rank(lock)) return;
    this.#related.set(relationKey(relation), { rows, lock });
    if (lock === 'look') return;
    for (const row of rows) this.keepRow(relation.model, row.id, row, lock);
  }

  /** Null: the workspace has none yet. */
  keepCounter(workspaceId: string, last: number | null): void {
    this.#counters.set(workspaceId, last === null ? null : Math.max(last, this.#ahead?.get(workspaceId) ?? 0));
  }

  keepAudience(userId: string, groups: Iterable<string>): void {
    this.#audiences.set(userId, new Set(groups));
  }

  keepCreation(model: Model, id: string, creation: Creation | null): void {
    this.#creations.set(key(model, id), creation);
  }

  // What the rules ask.

  /** The record as the mutations before this one leave it; null when there is none. */
  row(model: Model, id: string, lock: HoldStrength): Row | null {
    const changed = this.#changed.get(model)?.get(id);
    if (changed !== undefined) return changed;
    const read = this.#rows.get(key(model, id));
    if (!read || rank(read.lock) < rank(lock)) throw new Unread([{ kind: 'row', model, id, lock }]);
    return read.row;
  }

  /** Whether there is a record with this id, whoever may see it. The unique index has the last word. */
  isTaken(model: Model, id: string): boolean {
    const changed = this.#changed.get(model)?.get(id);
    if (changed !== undefined) return changed !== null;
    const isTaken = this.#taken.get(key(model, id));
    if (isTaken === undefined) throw new Unread([{ kind: 'taken', model, id }]);
    return isTaken;
  }

  /** Whether this group writes a record with this id. */
  makes(model: Model, id: string): boolean {
    return (this.#changed.get(model)?.get(id) ?? null) !== null;
  }

  /** Records whose field holds the value. */
  related(model: Model, field: string, value: string, lock: LockStrength): readonly Row[] {
    return this.relatedBy({ model, field, value }, lock);
  }

  relatedBy(relation: Relation, lock: LockStrength): readonly Row[] {
    const read = this.#related.get(relationKey(relation));
    if (!read || rank(read.lock) < rank(lock)) throw new Unread([{ kind: 'related', ...relation, lock }]);
    const { model, field, value, and } = relation;
    const changed = this.#changed.get(model);
    if (!changed || changed.size === 0) return read.rows;
    const holds = ({ record, workspaceId }: Row): boolean => {
      const held = record[field];
      if (!(Array.isArray(held) ? held.includes(value) : held === value)) return false;
      return !and || (and.field === 'workspaceId' ? workspaceId : record[and.field]) === and.value;
    };
    const rows = read.rows.filter(({ id }) => !changed.has(id));
    for (const row of changed.values()) if (row && holds(row)) rows.push(row);
    return rows;
  }

  /** Says what will be asked next, so that all of it is read in one round and not one by one. */
  expect(relations: readonly Relation[], lock: LockStrength): void {
    const unread = relations.filter((relation) => {
      const read = this.#related.get(relationKey(relation));
      return !read || rank(read.lock) < rank(lock);
    });
    if (unread.length > 0) throw new Unread(unread.map((relation) => ({ kind: 'related', ...relation, lock })));
  }

  /** Groups that see a person. */
  audience(userId: string): ReadonlySet<string> {
    const read = this.#audiences.get(userId);
    if (!read) throw new Unread([{ kind: 'audience', userId }]);
    const joined = this.#joined.get(userId);
    return joined ? new Set([...read, ...joined]) : read;
  }

  /** Who made a record, when an INSERT meets one that exists. */
  creation(model: Model, id: string): Creation | null {
    const made = this.#made.get(key(model, id));
    if (made) return made;
    const read = this.#creations.get(key(model, id));
    if (read === undefined) throw new Unread([{ kind: 'creation', model, id }]);
    return read;
  }

  /**
   * Says that a decision rests on a row that is not held. It must still be as it was when the group takes its place in the
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

  remove(row: Row): void {
    this.#change(row.model, row.id, null);
  }

  joinAudience(userId: string, groupId: string): void {
    let joined = this.#joined.get(userId);
    if (!joined) this.#joined.set(userId, (joined = new Set<string>()));
    if (joined.has(groupId)) return;
    const groups = joined;
    groups.add(groupId);
    this.#journal.push(() => groups.delete(groupId));
  }

  nextNumber(workspaceId: string): number {
    const read = this.#counters.get(workspaceId);
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
    this.#joined.clear();
    this.#relied.clear();
  }

  // What is to be written.

  writes(): { inserts: Map<Model, Row[]>; updates: Map<Model, Row[]>; deletes: Map<Model, string[]> } {
    const inserts = new Map<Model, Row[]>();
    const updates = new Map<Model, Row[]>();
    const deletes = new Map<Model, string[]>();
    for (const model of MODELS as readonly Model[]) {
      for (const [id, row] of this.#changed.get(model) ?? []) {
        const before = this.#rows.get(key(model, id))?.row ?? null;
        if (row && before) add(updates, model, row);
        else if (row) add(inserts, model, row);
        else if (before) add(deletes, model, id);
      }
    }
    return { inserts, updates, deletes };
  }

  /** A record as it was before this group; null when there was none, or it was not read. */
  stored(model: Model, id: string): Row | null {
    return this.#rows.get(key(model, id))?.row ?? null;
  }

  /** What was relied on, by model. What this group writes itself it holds. */
  relied(): [model: Model, rows: Row[]][] {
    return [...this.#relied].map(([model, rows]) => {
      const own = this.#changed.get(model);
      return [model, [...rows.values()].filter(({ id }) => !own?.has(id))];
    });
  }

  newNumbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  /** Where the counter of a workspace stood when it was read. */
  lastNumber(workspaceId: string): number | null {
    return this.#counters.get(workspaceId) ?? null;
  }

  newAudiences(): [userId: string, groupId: string][] {
    return [...this.#joined].flatMap(([userId, groups]) =>
      [...groups].map((groupId): [string, string] => [userId, groupId]),
    );
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

/** By workspace. */
export interface LastNumbers {
  get(workspaceId: string): number | undefined;
}

export interface Creation {
  readonly clientId: string;
  readonly actorId: string;
  /** Its entry in the log: the place, or the entry itself when it has none yet. */
  readonly entry: bigint | Effect | null;
}

/** Records whose `field` holds `value`, an id; `and` narrows them by another field, or by `workspaceId`, which every row has. */
export interface Relation {
  readonly model: Model;
  readonly field: string;
  readonly value: string;
  readonly and?: { readonly field: string; readonly value: string };
}

/** Those of one workspace. */
export function within(workspaceId: string, relation: Relation): Relation {
  return { ...relation, and: { field: 'workspaceId', value: workspaceId } };
}

export type Need =
  | { readonly kind: 'row'; readonly model: Model; readonly id: string; readonly lock: HoldStrength }
  | { readonly kind: 'taken'; readonly model: Model; readonly id: string }
  | ({ readonly kind: 'related'; readonly lock: LockStrength } & Relation)
  | { readonly kind: 'counter'; readonly workspaceId: string }
  | { readonly kind: 'audience'; readonly userId: string }
  | { readonly kind: 'creation'; readonly model: Model; readonly id: string };

/** Not an error: says what must be read before this can be decided. */
export class Unread extends Error {
  readonly needs: readonly Need[];

  constructor(needs: readonly Need[]) {
    super(`${needs.map(({ kind }) => kind).join(', ')} not read yet`);
    this.needs = needs;
  }
}

/**
 * More than one transaction should hold. A group that throws this is divided; a unit that does so alone is refused with
 * the message, which is public.
 */
export class TooMuch extends Error {}

export const TOO_LARGE = 'This concerns records that are too large together; do it in smaller steps';

const LOCK_ORDER: readonly LockStrength[] = ['look', 'refer', 'write'];

function rank(lock: LockStrength): number {
  return LOCK_ORDER.indexOf(lock);
}

export function key(model: Model, id: string): string {
  return `${model.name}:${id}`;
}

export function relationKey({ model, field, value, and }: Relation): string {
  return `${model.name}.${field}:${value}${and ? `&${and.field}:${and.value}` : ''}`;
}

function add<T>(lists: Map<Model, T[]>, model: Model, item: T): void {
  const list = lists.get(model);
  if (list) list.push(item);
  else lists.set(model, [item]);
}
