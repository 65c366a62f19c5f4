import type { Model } from './model.ts';

/**
 * The fields of an update that change single members of a set: `addedLabelIds` and `removedLabelIds` for `labelIds`. They are applied
 * to the stored record when the change is committed, so that two concurrent additions are both kept.
 */
export interface SetChange {
  /** The field with the set, such as `labelIds`. */
  readonly field: string;
  readonly added: string;
  readonly removed: string;
}

const changes = new WeakMap<Model, readonly SetChange[]>();

/** The set changes that an update of this model may have: one for each field of several references. */
export function setChangesOf(declared: Model): readonly SetChange[] {
  return changes.getOrInsertComputed(declared, ({ fields }) =>
    Object.entries(fields).flatMap(([field, { reference, assigned, immutable }]) => {
      if (!reference?.many || assigned !== undefined || immutable) return [];
      const name = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}`;
      return [{ field, added: `added${name}`, removed: `removed${name}` }];
    }),
  );
}
