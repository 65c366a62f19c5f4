import type { Model } from '@wts/models';
import type { HoldStrength, LockStrength, Row, RowOf } from '../store/rows.ts';
import {
  factKey,
  key,
  keyName,
  rank,
  relationKey,
  TooMuch,
  type FactNeed,
  type Facts,
  type Relation,
  type UniqueKey,
} from './need.ts';
import type { Effect } from './unit.ts';

/** What a batch of mutations has read of the database. */
export class Known {
  protected readonly rows = new Map<string, { row: Row | null; lock: HoldStrength }>();
  protected readonly taken = new Map<string, Taken>();
  /** Ids that ever named a group. */
  protected readonly used = new Map<string, boolean>();
  /** Ids that this batch of mutations is the first to use so. */
  readonly newlyUsed = new Set<string>();
  protected readonly sets = new Map<string, { rows: readonly Row[]; lock: LockStrength }>();
  protected readonly counters = new Map<string, number | null>();
  protected readonly audiences = new Map<string, Audiences>();
  protected readonly facts = new Map<string, Facts[keyof Facts]>();
  protected readonly creations = new Map<string, Creation | null>();
  protected readonly keys = new Map<string, string | null>();
  readonly #excesses = new Map<string, string>();
  readonly #ahead: LastNumbers | undefined;
  /** Rows whose text is in the price of a unit. */
  protected readonly charged = new Set<Row>();
  #textRead = 0;

  /** `ahead`: how far batches that are still under way have numbered tasks. */
  constructor(ahead?: LastNumbers) {
    this.#ahead = ahead;
  }

  /** A row that is held cannot change, so the stronger lock stays and a weaker reading adds nothing. */
  keepRow(model: Model, id: string, row: Row | null, lock: HoldStrength): void {
    const known = this.rows.get(key(model, id));
    // Nothing was found for these callers, and something for whom may see more.
    const isFound = known?.row === null && row !== null && known.lock === lock;
    if (!known || isFound || rank(known.lock) < rank(lock)) this.rows.set(key(model, id), { row, lock });
  }

  keepTaken(model: Model, id: string, taken: Taken): void {
    this.taken.set(key(model, id), taken);
  }

  keepUsed(id: string, isUsed: boolean): void {
    this.used.set(id, isUsed);
  }

  keepRelated(relation: Relation, rows: readonly Row[], lock: LockStrength): void {
    const known = this.sets.get(relationKey(relation));
    if (known && rank(known.lock) > rank(lock)) return;
    this.sets.set(relationKey(relation), { rows, lock });
    if (lock === 'look') return;
    for (const row of rows) this.keepRow(relation.model, row.id, row, lock);
  }

  /** These are more than can be read, and why: who asks for them asks for too much. */
  keepExcess(relation: Relation, reason: string): void {
    this.#excesses.set(relationKey(relation), reason);
  }

  isExcess(relation: Relation): boolean {
    return this.#excesses.size > 0 && this.#excesses.has(relationKey(relation));
  }

  /** Puts the text of a row in the price of the unit that is decided now, unless a unit before it needed the row too. */
  charge(row: Row | null): void {
    if (!row || this.charged.has(row)) return;
    this.charged.add(row);
    this.#textRead += row.text.length;
  }

  /** Text of the rows that were charged since this was last asked. */
  takeTextRead(): number {
    const length = this.#textRead;
    this.#textRead = 0;
    return length;
  }

  /** False for a batch that is decided from memory. */
  get hasRows(): boolean {
    return this.rows.size > 0;
  }

  protected refuseExcess(relations: readonly Relation[]): void {
    if (this.#excesses.size === 0) return;
    const excess = relations.find((relation) => this.isExcess(relation));
    if (excess) throw new TooMuch(this.#excesses.get(relationKey(excess)));
  }

  /** Where the counter of a workspace stood when it was read. */
  lastNumber(workspaceId: string): number | null {
    return this.counters.get(workspaceId) ?? null;
  }

  /** A record as it was before this batch; null when there was none, or it was not read. */
  stored<M extends Model>(model: M, id: string): RowOf<M> | null {
    return (this.rows.get(key(model, id))?.row ?? null) as RowOf<M> | null;
  }

  /** Null: no record has these values. */
  keepKey(unique: UniqueKey, id: string | null): void {
    this.keys.set(keyName(unique), id);
  }

  /** Null: the workspace has none yet. */
  keepCounter(workspaceId: string, last: number | null): void {
    this.counters.set(workspaceId, last === null ? null : Math.max(last, this.#ahead?.get(workspaceId) ?? 0));
  }

  keepAudience(userId: string, live: Iterable<string>, frozen: Iterable<string>): void {
    this.audiences.set(userId, { live: new Set(live), frozen: new Set(frozen) });
  }

  keepFact(need: FactNeed, fact: Facts[keyof Facts]): void {
    this.facts.set(factKey(need), fact);
  }

  keepCreation(model: Model, id: string, creation: Creation | null): void {
    this.creations.set(key(model, id), creation);
  }
}

/** What has an id: a record, or one whose parts are still being deleted. */
export type Taken = 'record' | 'sweep' | 'nothing';

/** The groups that see a person. */
export interface Audiences {
  /** As they are. */
  readonly live: ReadonlySet<string>;
  /** As they were when they left. */
  readonly frozen: ReadonlySet<string>;
}

export interface AudienceMove {
  readonly in: Set<string>;
  readonly out: Map<string, string>;
}

export interface JoinedAudience {
  readonly userId: string;
  readonly groupId: string;
}

export interface FrozenAudience extends JoinedAudience {
  readonly text: string;
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
