import type { Model } from '@wts/models';
import type { Ranked } from '../store/list-windows.ts';
import type { HoldStrength, LockStrength } from '../store/rows.ts';
import { SYNC_LIMITS } from '../limits.ts';
import type { ListName } from './list-window.ts';
import type { Effect } from './unit.ts';

/*
 * What rules must read from the database, as values. A rule queries the `Decision`, which throws the lookups that were not read
 * yet (`LookupMissing`); `run-lookups.ts` runs them, and the `ReadSet` holds their results.
 */

/** Records whose `field` holds `value`, an id; `and` narrows them by another field, or by `workspaceId`, which every row has. */
export interface Relation<M extends Model = Model> {
  readonly model: M;
  readonly field: string;
  readonly value: string;
  readonly and?: { readonly field: string; readonly value: string };
}

/** The relation, narrowed to one workspace. */
export function within<M extends Model>(workspaceId: string, relation: Relation<M>): Relation<M> {
  return { ...relation, and: { field: 'workspaceId', value: workspaceId } };
}

/** Values of fields that no two records share. */
export interface UniqueKey {
  readonly model: Model;
  readonly fields: readonly string[];
  readonly values: readonly string[];
}

export type Lookup =
  | { readonly kind: 'row'; readonly model: Model; readonly id: string; readonly lock: HoldStrength }
  | ({ readonly kind: 'related'; readonly lock: LockStrength } & Relation)
  | { readonly kind: 'list-window'; readonly list: ListName; readonly at: Ranked }
  | FactLookup;

/** How much a cascade includes: the record and what is below it. The count stops at one record more than the lookup allows. */
export interface Extent {
  readonly records: number;
  readonly bytes: number;
  /** How deep records of its own model are nested below it. */
  readonly levels: number;
}

/** What a deletion of the record deletes or changes, what moves with the record, or the record alone. */
export type ExtentScope = 'delete' | 'move' | 'own';

/** How much one deletion or move may change in its own commit; a sweep changes the rest. */
export interface CascadeBounds {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly levelsMax: number;
}

export const CASCADE_BOUNDS: CascadeBounds = {
  recordsMax: SYNC_LIMITS.cascadeRecordsMax,
  bytesMax: SYNC_LIMITS.cascadeRecordsBytesMax,
  levelsMax: SYNC_LIMITS.cascadeLevelsMax,
};

/** What has an id: a record, a deleted record whose descendants are still being deleted, or nothing. */
export type IdHolder = 'record' | 'sweep' | 'nothing';

/** The groups that see a person. */
export interface Audiences {
  /** As the person is. */
  readonly live: ReadonlySet<string>;
  /** As the person was when they left. */
  readonly frozen: ReadonlySet<string>;
}

/** By whom a record was inserted. */
export interface Creation {
  readonly clientId: string;
  readonly actorId: string;
  /** Its entry in the log: the position, or the entry itself while it has none. */
  readonly entry: bigint | Effect;
}

/** What rules read besides rows. */
export interface Facts {
  readonly 'id-holder': IdHolder;
  /** Whether a group ever had this id. */
  readonly 'used-group': boolean;
  /** The id of the record that has the values, or null. */
  readonly key: string | null;
  /** The last task number; null for a workspace that has no counter yet. */
  readonly counter: number | null;
  readonly audience: Audiences;
  readonly creation: Creation | null;
  /** How much a cascade from it includes. */
  readonly extent: Extent;
  /** The position of its last entry, or the floor of the log where that entry was trimmed. */
  readonly last: bigint;
  /** How many records of its model are above it, itself included. */
  readonly depth: number;
  /** Whether a sweep still deletes the memberships that a person had inside a workspace before. */
  readonly leaving: boolean;
  /** The time by the clock of PostgreSQL, and the time zone of a workspace. */
  readonly calendar: { readonly now: string; readonly timeZone: string };
  /** How many of the newest tasks of a series are open. */
  readonly 'open-tasks': number;
}

export type FactLookup =
  | {
      readonly kind: 'extent';
      readonly model: Model;
      readonly id: string;
      readonly scope: ExtentScope;
      readonly recordsMax: number;
    }
  | {
      readonly kind: 'id-holder' | 'used-group' | 'creation' | 'last' | 'depth';
      readonly model: Model;
      readonly id: string;
    }
  | ({ readonly kind: 'key' } & UniqueKey)
  | { readonly kind: 'counter' | 'calendar'; readonly workspaceId: string }
  | { readonly kind: 'audience'; readonly userId: string }
  | { readonly kind: 'open-tasks'; readonly seriesId: string }
  | { readonly kind: 'leaving'; readonly workspaceId: string; readonly userId: string };

export function factKey(lookup: FactLookup): string {
  return `${factKind(lookup)} ${factId(lookup)}`;
}

/** Equal for facts that differ in their ids only. */
export function factKind(lookup: FactLookup): string {
  const { kind } = lookup;
  if (!('model' in lookup)) return kind;
  const more = kind === 'extent' ? lookup.scope : kind === 'key' ? lookup.fields.join(' ') : '';
  return `${kind} ${lookup.model.name} ${more}`;
}

export function factId(lookup: FactLookup): string {
  switch (lookup.kind) {
    case 'key':
      return JSON.stringify(lookup.values);
    case 'counter':
    case 'calendar':
      return lookup.workspaceId;
    case 'audience':
      return lookup.userId;
    case 'open-tasks':
      return lookup.seriesId;
    case 'leaving':
      return `${lookup.workspaceId} ${lookup.userId}`;
    default:
      return lookup.id;
  }
}

/** Not a failure: names what must be read before a unit can be decided. */
export class LookupMissing extends Error {
  readonly lookups: readonly Lookup[];

  constructor(lookups: readonly Lookup[]) {
    super(`${lookups.map(({ kind }) => kind).join(', ')} not read yet`);
    this.lookups = lookups;
  }
}

/** Runs for every item, and then throws the missing lookups of all of them, so that they are read in one round. */
export function forEachCollecting<T>(items: readonly T[], run: (item: T) => void): void {
  const lookups: Lookup[] = [];
  for (const item of items) {
    try {
      run(item);
    } catch (error) {
      if (!(error instanceof LookupMissing)) throw error;
      lookups.push(...error.lookups);
    }
  }
  if (lookups.length > 0) throw new LookupMissing(lookups);
}

const LOCK_ORDER: readonly LockStrength[] = ['look', 'refer', 'write'];

export function rank(lock: LockStrength): number {
  return LOCK_ORDER.indexOf(lock);
}

export function key(model: Model, id: string): string {
  return `${model.name}:${id}`;
}

export function relationKey({ model, field, value, and }: Relation): string {
  return `${model.name}.${field}:${value}${and ? `&${and.field}:${and.value}` : ''}`;
}

export function sweepKey(kind: string, model: Model, id: string): string {
  return `${kind} ${key(model, id)}`;
}
