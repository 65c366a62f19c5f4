import type { Field } from './field.ts';
import type { Model } from './model.ts';
import { setChangesOf } from './set-changes.ts';

/*
 * JSON Schemas of models: a record, the payloads that create or change one, and the data of an entry. All of them are derived from
 * the declaration.
 */

type Schema = Readonly<Record<string, unknown>>;

const STAMP = { type: 'string', format: 'date-time' };

/** The record as clients read it. */
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

/** The data of an UPDATE: the changed fields and `updatedAt`. */
export function changesSchema(declared: Model): Schema {
  return {
    ...recordSchema(declared),
    description: `The changed fields of a ${declared.name}, and when they changed.`,
    required: ['updatedAt'],
  };
}

/**
 * The payload that creates a record; null where only services create them. Other fields of the record are ignored in payloads, so
 * the schema leaves them out.
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

/** The payload that changes a record; null where only services change them. */
export function updateSchema(declared: Model): Schema | null {
  if (declared.permissions.update === 'service') return null;
  const given = Object.entries(declared.fields).filter(([, field]) => !field.assigned && !field.immutable);
  const sets = setChangesOf(declared).flatMap(({ field, added, removed }) => [
    [added, setSchema(declared, field, `Ids to add to \`${field}\`, whatever else is in it.`)],
    [removed, setSchema(declared, field, `Ids to remove from \`${field}\`.`)],
  ]);
  const commands = Object.entries(declared.commands).map(([name, description]) => [
    name,
    {
      anyOf: [{ const: true }, { type: 'string', format: 'date', maxLength: 10 }],
      description: `${description} Give \`true\`, or the day of the record: for one day it is done once, however often it is sent.`,
    },
  ]);
  return {
    type: 'object',
    description: `The fields of a ${declared.name} to change. The others stay as they are.`,
    // The default of a new record does not apply to an update.
    properties: Object.fromEntries([...given.map(([name, { schema }]) => [name, schema]), ...sets, ...commands]),
  };
}

function setSchema(declared: Model, field: string, description: string): Schema {
  return { ...declared.fields[field]?.schema, description };
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

/** Notes for clients about a field: who assigns it, its default, whether it is immutable. */
function fieldSchema({ schema, doc, initial, immutable, assigned }: Field): Schema {
  if (assigned !== undefined) return { ...schema, readOnly: true };
  return {
    ...schema,
    ...(immutable ? { description: `${doc} Set on creation; cannot be changed.` } : {}),
    ...(initial === undefined ? {} : { default: initial }),
  };
}
