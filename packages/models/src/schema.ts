import type { Field } from './field.ts';
import type { Model } from './model.ts';

/*
 * Models as JSON Schema, for who reads or writes records: what a record is, what is sent to make or change one, and what
 * the log shows of a change. All of it follows from the declaration.
 */

type Schema = Readonly<Record<string, unknown>>;

const STAMP = { type: 'string', format: 'date-time' };

/** The record as clients see it. */
export function recordSchema(declared: Model): Schema {
  const properties = propertiesOf(declared);
  return {
    type: 'object',
    description: declared.doc,
    additionalProperties: false,
    required: Object.keys(properties),
    properties,
  };
}

/** What an UPDATE shows: the fields that changed, and when. */
export function changesSchema(declared: Model): Schema {
  return {
    ...recordSchema(declared),
    description: `The changed fields of a ${declared.name}, and when they changed.`,
    required: ['updatedAt'],
  };
}

/**
 * What a client sends to make a record; null where services alone make them. Other fields of the record may be sent along
 * and are ignored, so nothing is said of them.
 */
export function insertSchema(declared: Model): Schema | null {
  if (declared.permissions.insert === 'service') return null;
  const given = Object.entries(declared.fields).filter(([, { assigned }]) => assigned === undefined);
  const required = given.filter(([, { initial }]) => initial === undefined).map(([name]) => name);
  return {
    type: 'object',
    description: `A new ${declared.name}. Needed: ${required.join(', ')}. Every other field has a default.`,
    required,
    properties: Object.fromEntries(given.map(([name, field]) => [name, fieldSchema(field)])),
  };
}

/** What a client sends to change a record; null where services alone do. */
export function updateSchema(declared: Model): Schema | null {
  if (declared.permissions.update === 'service') return null;
  const given = Object.entries(declared.fields).filter(([, field]) => !field.assigned && !field.immutable);
  return {
    type: 'object',
    description: `The fields of a ${declared.name} to change. The others stay as they are.`,
    // The value that a new record has says nothing about one that is there.
    properties: Object.fromEntries(given.map(([name, { schema }]) => [name, schema])),
  };
}

function propertiesOf(declared: Model): Readonly<Record<string, Schema>> {
  const archivedAt = {
    anyOf: [STAMP, { type: 'null' }],
    description: 'When it was archived; null while it is not.',
    readOnly: true,
  };
  return {
    id: { type: 'string', format: 'uuid', description: 'Unique identifier.' },
    ...Object.fromEntries(Object.entries(declared.fields).map(([name, field]) => [name, fieldSchema(field)])),
    createdAt: { ...STAMP, description: 'When it was created.', readOnly: true },
    updatedAt: { ...STAMP, description: 'When it last changed.', readOnly: true },
    ...(declared.archivable ? { archivedAt } : {}),
  };
}

/** What a client has to know before it sends the field: who gives its value, what it is when left out, when it is fixed. */
function fieldSchema({ schema, doc, initial, immutable, assigned }: Field): Schema {
  if (assigned !== undefined) return { ...schema, readOnly: true };
  return {
    ...schema,
    ...(immutable ? { description: `${doc} Set on creation; cannot be changed.` } : {}),
    ...(initial === undefined ? {} : { default: initial }),
  };
}
