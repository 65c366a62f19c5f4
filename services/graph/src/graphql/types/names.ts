import { MODELS, type Field, type Model } from '@wts/models';
import { valueSchemaOf, type ServedField } from '../../domain/fields.ts';

/*
 * The names of types. Types of the registry are named after their models, and the types made for a model begin with its name:
 * `TaskFilter`, `TaskOrder`, `TaskConnection`.
 */

/** The values of a field that has a closed list of them. */
function valuesOf(field: Pick<Field, 'schema' | 'nullable'>): readonly string[] | null {
  return (valueSchemaOf(field)['enum'] as readonly string[] | undefined) ?? null;
}

/** The name of a field's enum: `TaskStart`. */
function enumNameOf({ name }: Pick<Model, 'name'>, field: string): string {
  return `${name}${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

const SCALARS = {
  text: 'String',
  uuid: 'ID',
  'uuid[]': '[ID!]',
  integer: 'Int',
  boolean: 'Boolean',
  date: 'Date',
  timestamptz: 'DateTime',
} as const satisfies Readonly<Record<Field['sqlType'], string>>;

/** The type of a field's values, for outputs and inputs, without `!`. */
export function typeNameOf(model: Model, name: string, field: ServedField): string {
  return valuesOf(field) === null ? SCALARS[field.sqlType] : enumNameOf(model, name);
}

/** Every enum of the registry: its name, the field it is of. */
export const ENUMS: readonly { readonly name: string; readonly doc: string; readonly values: readonly string[] }[] =
  MODELS.flatMap((model) =>
    Object.entries(model.fields).flatMap(([name, field]) => {
      const values = valuesOf(field);
      return values === null
        ? []
        : [{ name: enumNameOf(model, name), doc: `\`${name}\` of a ${model.name}: ${field.doc}`, values }];
    }),
  );
