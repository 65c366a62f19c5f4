import { LIMITS } from '@wts/contracts';
import type { Model } from '@wts/models';
import type { HoldStrength, LockStrength } from '../store/rows.ts';

/*
 * What rules ask of the database, as values: named by a rule, read by `read-needs.ts`, kept by `world.ts`.
 */

/** Records whose `field` holds `value`, an id; `and` narrows them by another field, or by `workspaceId`, which every row has. */
export interface Relation<M extends Model = Model> {
  readonly model: M;
  readonly field: string;
  readonly value: string;
  readonly and?: { readonly field: string; readonly value: string };
}

/** Those of one workspace. */
export function within<M extends Model>(workspaceId: string, relation: Relation<M>): Relation<M> {
  return { ...relation, and: { field: 'workspaceId', value: workspaceId } };
}

/** Values of fields that no two records share. */
export interface UniqueKey {
  readonly model: Model;
  readonly fields: readonly string[];
  readonly values: readonly string[];
}

export type Need =
  | { readonly kind: 'row'; readonly model: Model; readonly id: string; readonly lock: HoldStrength }
  | { readonly kind: 'taken'; readonly model: Model; readonly id: string }
  | { readonly kind: 'used'; readonly model: Model; readonly id: string }
  | ({ readonly kind: 'related'; readonly lock: LockStrength } & Relation)
  | { readonly kind: 'counter'; readonly workspaceId: string }
  | { readonly kind: 'audience'; readonly userId: string }
  | { readonly kind: 'creation'; readonly model: Model; readonly id: string }
  | ({ readonly kind: 'key' } & UniqueKey)
  | FactNeed;

/** How much hangs below a record, itself included: counted by ids, up to one more than asked for. */
export interface Extent {
  readonly records: number;
  readonly bytes: number;
  /** How deep records of its own model lie below each other. */
  readonly levels: number;
}

/** What goes and lets go with a record, what moves with it, or itself alone. */
export type ExtentWay = 'delete' | 'move' | 'own';

/** What one deletion or move may take along in its own commit; what is more is swept behind it. */
export interface CascadeBounds {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly levelsMax: number;
}

export const CASCADE_BOUNDS: CascadeBounds = {
  recordsMax: LIMITS.cascadeRecordsMax,
  bytesMax: LIMITS.cascadeRecordsBytesMax,
  levelsMax: LIMITS.cascadeLevelsMax,
};

/** What is asked about a record beside its row. */
export interface Facts {
  /** What goes, lets go or moves with it. */
  readonly extent: Extent;
  /** The place of its last entry in the log, or of the log's floor where that was trimmed. */
  readonly last: bigint;
  /** How many records of its model lie above it, itself included. */
  readonly depth: number;
  /** Whether memberships that a person had in a workspace before are still being cleared. */
  readonly leaving: boolean;
}

export type FactNeed =
  | {
      readonly kind: 'extent';
      readonly model: Model;
      readonly id: string;
      readonly way: ExtentWay;
      readonly recordsMax: number;
    }
  | { readonly kind: 'last'; readonly model: Model; readonly id: string }
  | { readonly kind: 'depth'; readonly model: Model; readonly id: string }
  | { readonly kind: 'leaving'; readonly workspaceId: string; readonly userId: string };

export function factKey(need: FactNeed): string {
  if (need.kind === 'leaving') return `leaving ${need.workspaceId} ${need.userId}`;
  return `${need.kind} ${need.kind === 'extent' ? need.way : ''} ${key(need.model, need.id)}`;
}

/** Not an error: says what must be read before this can be decided. */
export class Unread extends Error {
  readonly needs: readonly Need[];

  constructor(needs: readonly Need[]) {
    super(`${needs.map(({ kind }) => kind).join(', ')} not read yet`);
    this.needs = needs;
  }
}

/** Runs something for each, and says at once what all of them need, so that it is read in one round. */
export function forAll<T, R>(items: readonly T[], run: (item: T) => readonly R[]): R[] {
  const needs: Need[] = [];
  const results = items.flatMap((item) => {
    try {
      return run(item);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      needs.push(...error.needs);
      return [];
    }
  });
  if (needs.length > 0) throw new Unread(needs);
  return results;
}

/** More than one transaction should hold: the unit that needs it is refused with the message, which is public. */
export class TooMuch extends Error {}

export const TOO_MANY = `This change affects more than ${LIMITS.cascadeActionsMax} records; make it in smaller steps`;
export const TOO_LARGE = 'The records that this change affects are too large together; make it in smaller steps';

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

export function keyName({ model, fields, values }: UniqueKey): string {
  return JSON.stringify([model.name, fields, values]);
}

export function sweepKey(kind: string, model: Model, id: string): string {
  return `${kind} ${key(model, id)}`;
}
