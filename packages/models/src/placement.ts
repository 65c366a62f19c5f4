import { isUuid } from '@wts/contracts';
import type { Reading } from './field.ts';
import type { Model, RecordOf } from './model.ts';
import type { Values } from './record.ts';

/** The field with the rank of a record in an ordered list. */
export const RANK_FIELD = 'sortOrder';

/**
 * Where a record goes in its list: after one record, before one, or between two. A client gives it instead of a rank, as
 * `sortOrder: {after: id}`; the rank is computed when the change is committed. Null where the client named no record.
 */
export interface Placement {
  readonly after: string | null;
  readonly before: string | null;
}

const FORM = `${RANK_FIELD} must be a rank, {after: id}, {before: id} or both`;

/** The placement in a payload; null where it has none. */
export function readPlacement(declared: Model, payload: Values): Reading<Placement | null> {
  const given = payload[RANK_FIELD];
  if (declared.fields[RANK_FIELD] === undefined || typeof given !== 'object' || given === null)
    return { ok: true, value: null };
  const { after, before, ...rest } = given as Values;
  const [previous, next] = [idOf(after), idOf(before)];
  if (Array.isArray(given) || Object.keys(rest).length > 0 || previous === undefined || next === undefined)
    return { ok: false, reason: FORM };
  if (previous === null && next === null) return { ok: false, reason: FORM };
  return { ok: true, value: { after: previous, before: next } };
}

/** Undefined for what is no id. */
function idOf(given: unknown): string | null | undefined {
  if (given === undefined || given === null) return null;
  return typeof given === 'string' && isUuid(given) ? given.toLowerCase() : undefined;
}

/** Records with the same value of this field are in one list; null: all records of a workspace are. */
export function listFieldOf({ audience }: Model): string | null {
  const isChild = audience.kind === 'parent' || (audience.kind === 'project' && audience.field !== 'id');
  return isChild ? audience.field : null;
}

/** The parent whose list the record is in; null for a list of the workspace. */
export function listParentOf(declared: Model, record: RecordOf<Model>): string | null {
  const field = listFieldOf(declared);
  const id = field === null ? null : record[field];
  return typeof id === 'string' ? id : null;
}
