import type { Model } from '@wts/models';
import { keyTaken } from '../store/conflicts.ts';
import { keyValues, type Row } from '../store/rows.ts';
import type { Decision } from './decision.ts';
import { Refused } from './refusal.ts';

/** The unique keys with values from callers: numbers that the server assigns cannot conflict. */
export function keysOf(model: Model): readonly (readonly string[])[] {
  return model.unique.filter((fields) => fields.every((field) => model.fields[field]?.assigned !== 'counter'));
}

/**
 * No other record has the values of a unique key. Checked before anything is written, so that a taken key costs its own unit a
 * lookup, and not the whole batch its transaction; the index still decides between two transactions that take one key.
 */
export function checkKeys(decision: Decision, before: Row | null, after: Row): void {
  for (const fields of keysOf(after.model)) {
    if (otherHolder(decision, fields, before, after) === null) continue;
    const { code, error } = keyTaken(after.model, fields);
    throw new Refused(code, error);
  }
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
