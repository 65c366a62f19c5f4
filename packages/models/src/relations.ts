import type { Model } from './model.ts';
import { modelNamed, MODELS } from './registry.ts';

/*
 * The relations between models, by the names under which a client reads the records of the other side. A reference `projectId` is
 * `project` on this side; `labelIds` is `labels`. On the other side it is the `inverse` of the reference.
 */

/** From a record to records it refers to. */
export interface Relation {
  /** As `project` or `labels`. */
  readonly name: string;
  /** The field with the id or ids, as `projectId` or `labelIds`. */
  readonly field: string;
  readonly target: Model;
  readonly many: boolean;
}

/** From a record to the records that refer to it, as `tasks` of a project. */
export interface Inverse {
  readonly name: string;
  /** The model that has the reference. */
  readonly source: Model;
  readonly field: string;
  readonly many: boolean;
}

export function relationsOf(declared: Model): readonly Relation[] {
  return Object.entries(declared.fields).flatMap(([field, { reference }]) =>
    reference
      ? [
          {
            name: relationName(field, reference.many),
            field,
            target: modelNamed(reference.model),
            many: reference.many,
          },
        ]
      : [],
  );
}

/** Without the references that the server assigns, such as creators: they have no index. */
export function inversesOf(target: Model): readonly Inverse[] {
  return MODELS.flatMap((source) =>
    Object.entries(source.fields).flatMap(([field, { reference, assigned }]) =>
      reference?.model === target.name && assigned === undefined
        ? [{ name: reference.inverse ?? source.plural, source, field, many: reference.many }]
        : [],
    ),
  );
}

/** What one record of a model is called where the model is a name: `taskChecklistItem`. */
export function singularOf({ name }: Model): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

function relationName(field: string, many: boolean): string {
  return many ? `${field.slice(0, -'Ids'.length)}s` : field.slice(0, -'Id'.length);
}
