import type { Field, Model } from '@wts/models';
import { MODELS } from '@wts/models';

/*
 * The names of types, and the texts of the schema document. Types of the registry are named after their models, and the types made
 * for a model begin with its name: `TaskFilter`, `TaskOrder`, `TaskConnection`.
 */

/** A description, before the definition it is of. */
export function described(text: string): string {
  return `"""\n${text.replaceAll('"""', '\\"""')}\n"""`;
}

/** The values of a field that has a closed list of them. */
function valuesOf({ schema, nullable }: Pick<Field, 'schema' | 'nullable'>): readonly string[] | null {
  const [bare] = nullable ? ((schema['anyOf'] as readonly Field['schema'][] | undefined) ?? [schema]) : [schema];
  return (bare?.['enum'] as readonly string[] | undefined) ?? null;
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

type ServedFields = readonly (readonly [name: string, field: ServedField])[];

const served = new WeakMap<Model, { readonly list: ServedFields; readonly byName: ReadonlyMap<string, ServedField> }>();

/** The fields of every record that the server sets, and those of the model, in the order of a record. */
export function fieldsOf(model: Model): ServedFields {
  return servedBy(model).list;
}

/** The same by their names. */
export function fieldsByName(model: Model): ReadonlyMap<string, ServedField> {
  return servedBy(model).byName;
}

function servedBy(model: Model): { readonly list: ServedFields; readonly byName: ReadonlyMap<string, ServedField> } {
  let known = served.get(model);
  if (known === undefined) {
    const list = readFields(model);
    served.set(model, (known = { list, byName: new Map(list) }));
  }
  return known;
}

function readFields(model: Model): ServedFields {
  const kept: [string, ServedField][] = [
    ['createdAt', { ...STAMP, doc: 'When it was created.' }],
    ['updatedAt', { ...STAMP, doc: 'When it last changed.' }],
  ];
  if (model.archivable)
    kept.push(['archivedAt', { ...STAMP, nullable: true, doc: 'When it was archived; null while it is not.' }]);
  return [['id', { ...ID, doc: 'Unique identifier.' }], ...Object.entries(model.fields), ...kept];
}

/** A field as far as types are made of it. */
export type ServedField = Pick<Field, 'sqlType' | 'schema' | 'nullable' | 'doc'> & Partial<Pick<Field, 'reference'>>;

const STAMP = { sqlType: 'timestamptz', schema: {}, nullable: false } as const;
const ID = { sqlType: 'uuid', schema: {}, nullable: false } as const;

/** A text that may be long, and so is read only when a query selects it. */
export function isLong({ sqlType, schema, nullable }: ServedField): boolean {
  const [bare] = nullable ? ((schema['anyOf'] as readonly Field['schema'][] | undefined) ?? [schema]) : [schema];
  return sqlType === 'text' && Number(bare?.['maxLength'] ?? 0) > LONG_CHARS;
}

const LONG_CHARS = 2_000;

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
