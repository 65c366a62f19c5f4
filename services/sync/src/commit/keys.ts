import type { Model } from '@wts/models';
import { keyTaken } from '../store/conflicts.ts';
import { keyValues, type Row } from '../store/rows.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** The unique keys that callers fill: what the server numbers itself collides with nothing. */
export function keysOf(model: Model): readonly (readonly string[])[] {
  return model.unique.filter((fields) => fields.every((field) => model.fields[field]?.assigned !== 'counter'));
}

/**
 * No other record has the values of a unique key. Asked before anything is written, so that a taken key costs its own unit a
 * look-up, and not the whole group its transaction; the index still decides when two take a key at once.
 */
export function checkKeys(world: World, before: Row | null, after: Row): Refusal | null {
  for (const fields of keysOf(after.model)) {
    const values = keyValues(after, fields);
    if (!values || (before && keyValues(before, fields)?.every((value, index) => value === values[index]))) continue;
    const holder = world.keyHolder({ model: after.model, fields, values });
    if (holder === null || holder === after.id) continue;
    const { code, error } = keyTaken(after.model, fields);
    return refuse(code, error);
  }
  return null;
}
