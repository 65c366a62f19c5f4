import { Project, User, Workspace, type Model } from '@wts/models';
import { keyTaken } from '../store/conflicts.ts';
import { keyValues, type Row } from '../store/rows.ts';
import type { Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { Refused } from '../decision/refusal.ts';

/** Models whose records are groups under their own ids: a project is a group while it is private. */
export const GROUP_MODELS: readonly Model[] = [Workspace, User, Project];

/** The unique keys with values from callers: numbers that the server assigns cannot conflict. */
export function keysOf(model: Model): readonly (readonly string[])[] {
  return model.unique.filter((fields) => fields.every((field) => model.fields[field]?.assigned !== 'counter'));
}

/**
 * No other record has the values of a unique key. Checked before anything is written, so that a taken key costs its own unit a
 * lookup, and not the whole batch its transaction; the index still decides between two transactions that take one key.
 */
export function checkKeys(decision: Decision, { model, id, before, after }: Change): void {
  if (after === null) return;
  for (const fields of keysOf(model)) {
    if (otherHolder(decision, fields, before, after) === null) continue;
    const { code, error } = keyTaken(model, fields);
    throw new Refused(code, error);
  }
  if (before === null && GROUP_MODELS.includes(model)) takeGroupId(decision, model, id);
}

/**
 * An id names one group and never another. Clients choose the ids of projects: a project with the id of a workspace or a person
 * would give its creator access to that group, and one with the id of a deleted project to the entries of that.
 * Keeps sync.group.used-once.
 */
function takeGroupId(decision: Decision, model: Model, id: string): void {
  if (decision.wasUsedAsGroup(model, id)) throw new Refused('conflict', `A ${model.name} with this id already exists`);
  decision.changes.useAsGroup(id);
}

/** The id of another record that has the values which this change gives to a unique key; null when there is none. */
export function otherHolder(
  decision: Decision,
  fields: readonly string[],
  before: Row | null,
  after: Row,
): string | null {
  const values = keyValues(after, fields);
  if (!values || (before && keyValues(before, fields)?.every((value, index) => value === values[index]))) return null;
  const holder = decision.keyHolder({ model: after.model, fields, values });
  return holder === after.id ? null : holder;
}
