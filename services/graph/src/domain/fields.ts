import type { Field, Model } from '@wts/models';

/*
 * The fields of the records that this service reads, from the registry.
 */

export type ServedFields = readonly (readonly [name: string, field: ServedField])[];

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
  return served.getOrInsertComputed(model, () => {
    const list = readFields(model);
    return { list, byName: new Map(list) };
  });
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

/** The schema of its values that are not null. */
export function valueSchemaOf({ schema, nullable }: Pick<Field, 'schema' | 'nullable'>): Field['schema'] {
  const [bare = schema] = nullable ? ((schema['anyOf'] as readonly Field['schema'][] | undefined) ?? []) : [];
  return bare;
}

/** A text that may be long, and so is read only when a query selects it. */
export function isLong(field: ServedField): boolean {
  return field.sqlType === 'text' && Number(valueSchemaOf(field)['maxLength'] ?? 0) > LONG_CHARS;
}

const LONG_CHARS = 2_000;
