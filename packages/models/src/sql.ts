import type { Field } from './field.ts';
import type { Model } from './model.ts';

/** How a model stands in PostgreSQL. Names are derived, never written twice. */
export interface Column {
  readonly field: string;
  readonly name: string;
  readonly type: Field['sqlType'];
  readonly nullable: boolean;
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Every field of the record as a column. */
export function columnsOf(declared: Model): readonly Column[] {
  const own = Object.entries(declared.fields).map(([field, { sqlType, nullable }]) => ({
    field,
    name: snakeCase(field),
    type: sqlType,
    nullable,
  }));
  const kept: Column[] = [
    { field: 'createdAt', name: 'created_at', type: 'timestamptz', nullable: false },
    { field: 'updatedAt', name: 'updated_at', type: 'timestamptz', nullable: false },
  ];
  if (declared.archivable) kept.push({ field: 'archivedAt', name: 'archived_at', type: 'timestamptz', nullable: true });
  return [{ field: 'id', name: 'id', type: 'uuid', nullable: false }, ...own, ...kept];
}

/** JSON Schema of the record as clients see it. */
export function recordSchema(declared: Model): Readonly<Record<string, unknown>> {
  const stamp = { type: 'string', format: 'date-time' };
  const archivedAt = {
    anyOf: [stamp, { type: 'null' }],
    description: 'When it was put away; null while it is not.',
    readOnly: true,
  };
  const kept = {
    createdAt: { ...stamp, description: 'When it was made.', readOnly: true },
    updatedAt: { ...stamp, description: 'When it last changed.', readOnly: true },
    ...(declared.archivable ? { archivedAt } : {}),
  };
  const properties = {
    id: { type: 'string', format: 'uuid', description: 'Names it everywhere; never changes.' },
    ...Object.fromEntries(Object.entries(declared.fields).map(([name, field]) => [name, fieldSchema(field)])),
    ...kept,
  };
  return {
    type: 'object',
    description: declared.doc,
    additionalProperties: false,
    required: Object.keys(properties),
    properties,
  };
}

/** What a client has to know before it sends the field: who gives its value, what it is when left out, when it is fixed. */
function fieldSchema({ schema, doc, initial, immutable, assigned }: Field): Readonly<Record<string, unknown>> {
  if (assigned !== undefined) return { ...schema, readOnly: true };
  return {
    ...schema,
    ...(immutable ? { description: `${doc} Given once.` } : {}),
    ...(initial === undefined ? {} : { default: initial }),
  };
}
