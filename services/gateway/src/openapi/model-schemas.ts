import { ACTION_LETTERS, syncActionSchema, syncApi } from '@wts/contracts';
import type { ActionName, JsonSchema } from '@wts/contracts';
import type { Model } from '@wts/models';
import { changesSchema, insertSchema, MODELS, recordSchema, updateSchema } from '@wts/models';

/*
 * What the contracts of sync leave open, closed for readers of the description: what stands in `payload`, `data` and
 * `record` follows from the model and the action. Each is a choice between objects that name both as constants, so that a
 * program that is generated from the description is checked while it is written. What runs takes any payload and answers
 * what is wrong with it.
 *
 * Keeps meta.openapi.typed-records.
 */

type Json = Record<string, unknown>;

/** Gives a schema a name in the description, and the reference to it. */
type Name = (name: string, schema: JsonSchema) => Json;

const models: readonly Model[] = MODELS;
const NOTHING = { type: 'object', description: 'Nothing.' } as const;

function recordOf(model: Model, name: Name): Json {
  return name(`${model.name}Record`, recordSchema(model));
}

/** A line of NDJSON for a record: the record, with its model in `__class`. */
export function anyLine(name: Name): Json {
  const oneOf = models.map((model) => {
    const { properties, required, ...record } = recordSchema(model);
    const __class = { type: 'string', const: model.name, description: 'The model.' };
    return name(`${model.name}Line`, {
      ...record,
      required: ['__class', ...(required as string[])],
      properties: { __class, ...(properties as Json) },
    });
  });
  return { description: syncApi.bootstrapRecordSchema['description'], oneOf };
}

/** What a client must send to create a record of each model, as a table in Markdown. */
export function insertTable(): string {
  const rows = models.flatMap((model) => {
    const needed = insertSchema(model)?.['required'] as readonly string[] | undefined;
    return needed === undefined ? [] : [`| \`${model.name}\` | ${needed.map((field) => `\`${field}\``).join(', ')} |`];
  });
  return ['| model | fields an `INSERT` needs |', '|---|---|', ...rows].join('\n');
}

/** A transaction: for each model, what clients may ask for. */
export function anyTransaction(name: Name): Json {
  const base = shared('Transaction', syncApi.syncTransactionSchema, name);
  const oneOf = models.flatMap((model) => {
    const [made, changed] = [insertSchema(model), updateSchema(model)];
    const others: ActionName[] = [
      ...(model.permissions.delete === 'service' ? [] : (['DELETE'] as const)),
      ...(model.archivable && changed !== null ? (['ARCHIVE', 'UNARCHIVE'] as const) : []),
    ];
    return [
      ...(made === null ? [] : [exact(base, model, ['INSERT'], { payload: name(`${model.name}Insert`, made) })]),
      ...(changed === null ? [] : [exact(base, model, ['UPDATE'], { payload: name(`${model.name}Update`, changed) })]),
      ...(others.length === 0 ? [] : [exact(base, model, others, { payload: NOTHING })]),
    ];
  });
  return { description: base['description'], oneOf };
}

/** An accepted transaction, with its record. */
export function anyAcceptance(name: Name): Json {
  const base = shared('Accepted', syncApi.acceptedMutationSchema, name);
  const oneOf = models.map((model) => exact(base, model, null, { record: recordOf(model, name) }));
  return { description: base['description'], oneOf };
}

/** An entry of the log, in words or letters; and the change of groups, which is of no model. */
export function anyAction(name: Name): Json {
  const base = shared('Action', syncActionSchema, name);
  const archivedAt = {
    anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
    description: 'When it was archived; null after UNARCHIVE.',
  };
  const shelving = name('Archiving', closed('What ARCHIVE and UNARCHIVE show.', { archivedAt }));
  const oneOf = models.flatMap((model) => [
    exact(base, model, spelled('INSERT'), { data: recordOf(model, name) }),
    exact(base, model, spelled('UPDATE'), { data: name(`${model.name}Changes`, changesSchema(model)) }),
    ...(model.archivable
      ? [exact(base, model, [...spelled('ARCHIVE'), ...spelled('UNARCHIVE')], { data: shelving })]
      : []),
    exact(base, model, spelled('DELETE'), { data: NOTHING }),
  ]);
  const subscribedSyncGroups = {
    type: 'array',
    items: { type: 'string' },
    description: 'All groups you are in now.',
  };
  const data = name('GroupChange', closed('For callers in letters: your groups changed.', { subscribedSyncGroups }));
  return {
    description: base['description'],
    oneOf: [...oneOf, exact(base, { name: '__sync_groups__' }, ['G'], { data })],
  };
}

function spelled(action: ActionName): string[] {
  return [action, ACTION_LETTERS[action]];
}

/** The schema with names for its properties: it stands in the description many times. */
function shared(prefix: string, schema: JsonSchema, name: Name): Json {
  const properties = Object.entries(schema['properties'] as Record<string, JsonSchema>).map(([key, property]) => [
    key,
    KEYS_OF_MODELS.includes(key) ? property : name(`${prefix}${key.charAt(0).toUpperCase()}${key.slice(1)}`, property),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** What each model says in its own way. */
const KEYS_OF_MODELS: readonly string[] = ['modelName', 'action', 'payload', 'data', 'record'];

/** The schema for one model, and for some actions when these are named. */
function exact(schema: Json, { name }: Pick<Model, 'name'>, actions: readonly string[] | null, more: Json): Json {
  const { description: _, ...rest } = schema;
  const modelName = { type: 'string', const: name, description: 'The model.' };
  const action = { type: 'string', enum: actions, description: 'What happens to it.' };
  const properties = { ...(rest['properties'] as Json), modelName, ...(actions === null ? {} : { action }), ...more };
  return { ...rest, properties };
}

function closed(description: string, properties: Json): JsonSchema {
  return { type: 'object', description, additionalProperties: false, required: Object.keys(properties), properties };
}
