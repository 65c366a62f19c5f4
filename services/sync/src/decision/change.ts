import type { ActionName } from '@wts/contracts';
import type { Model } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Mutation } from './unit.ts';

/** A change of one record within a group, or from one group to another. */
export interface RowChange {
  readonly before: Row;
  readonly after: Row;
  /** Fields that differ, without `updatedAt`. */
  readonly changed: readonly string[];
}

/** A change of nothing gets no entry. */
export function hasChanges({ before, after, changed }: RowChange): boolean {
  return changed.length > 0 || after.groupId !== before.groupId;
}

/** What a mutation changes, as every rule gets it. */
export interface Change {
  readonly action: ActionName;
  readonly model: Model;
  readonly id: string;
  /** Null: INSERT. */
  readonly before: Row | null;
  /** Without what the server assigns at the end: `updatedAt`, a number, a rank. Null: DELETE. */
  readonly after: Row | null;
  /** Fields that differ; those with a value, for INSERT. */
  readonly changed: readonly string[];
  /** Its payload, for what is no field of the record: conditions and confirmations. */
  readonly given: Mutation['payload'];
}
