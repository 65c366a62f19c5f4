import { ACTION_LETTERS, objectOf, syncActionSchema, syncApi, type ActionName, type JsonSchema } from '@wts/contracts';
import { changesSchema, insertSchema, MODELS, recordSchema, updateSchema, type Model } from '@wts/models';

/*
 * The contracts of sync allow any object in `payload`, `data` and `record`. The description has their exact schemas: a choice
 * between objects with `modelName` and `action` as constants, so that a generated client is checked at compile time. The
 * service validates payloads itself, with better messages.
 *
 * Keeps meta.openapi.typed-records.
 */

type Json = Record<string, unknown>;

/** Adds a named schema to the description and returns a reference to it. */
type NameSchema = (name: string, schema: JsonSchema) => Json;

const models: readonly Model[] = MODELS;
const NOTHING = { type: 'object', description: 'Nothing.' } as const;

function recordOf(model: Model, name: NameSchema): Json {
  return name(`${model.name}Record`, recordSchema(model));
}

/** An NDJSON line of a record: the record with its model in `__class`. */
export function typedLine(name: NameSchema): Json {
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

/** The required fields of an INSERT for each model, as a table in Markdown. */
export function insertTable(): string {
  const rows = models.flatMap((model) => {
    const needed = insertSchema(model)?.['required'] as readonly string[] | undefined;
    return needed === undefined ? [] : [`| \`${model.name}\` | ${needed.map((field) => `\`${field}\``).join(', ')} |`];
  });
  return ['| model | fields an `INSERT` needs |', '|---|---|', ...rows].join('\n');
}

/** A transaction: one schema for each model and action that clients may send. */
export function typedTransaction(name: NameSchema): Json {
  const base = withNamedProperties('Transaction', syncApi.syncTransactionSchema, name);
  const oneOf = models.flatMap((model) => {
    const [insert, update] = [insertSchema(model), updateSchema(model)];
    const others: ActionName[] = [
      ...(model.permissions.delete === 'service' ? [] : (['DELETE'] as const)),
      ...(model.archivable && update !== null ? (['ARCHIVE', 'UNARCHIVE'] as const) : []),
    ];
    return [
      ...(insert === null ? [] : [forModel(base, model, ['INSERT'], { payload: name(`${model.name}Insert`, insert) })]),
      ...(update === null ? [] : [forModel(base, model, ['UPDATE'], { payload: name(`${model.name}Update`, update) })]),
      ...(others.length === 0 ? [] : [forModel(base, model, others, { payload: NOTHING })]),
    ];
  });
  return { description: base['description'], oneOf };
}

/** An accepted transaction with its record. */
export function typedAcceptedMutation(name: NameSchema): Json {
  const base = withNamedProperties('Accepted', syncApi.acceptedMutationSchema, name);
  const oneOf = models.map((model) => forModel(base, model, null, { record: recordOf(model, name) }));
  return { description: base['description'], oneOf };
}

/** An entry of the log, with the action in words or letters; and the change of groups, which has no model. */
export function typedAction(name: NameSchema): Json {
  const base = withNamedProperties('Action', syncActionSchema, name);
  const archivedAt = {
    anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
    description: 'When it was archived; null after UNARCHIVE.',
  };
  const archiving = name('Archiving', closed('What ARCHIVE and UNARCHIVE show.', { archivedAt }));
  const oneOf = models.flatMap((model) => [
    forModel(base, model, bothSpellings('INSERT'), { data: recordOf(model, name) }),
    forModel(base, model, bothSpellings('UPDATE'), { data: name(`${model.name}Changes`, changesSchema(model)) }),
    ...(model.archivable
      ? [forModel(base, model, [...bothSpellings('ARCHIVE'), ...bothSpellings('UNARCHIVE')], { data: archiving })]
      : []),
    forModel(base, model, bothSpellings('DELETE'), { data: NOTHING }),
  ]);
  const subscribedSyncGroups = { type: 'array', items: { type: 'string' }, description: 'All groups you are in now.' };
  const data = name('GroupChange', closed('For callers in letters: your groups changed.', { subscribedSyncGroups }));
  return {
    description: base['description'],
    oneOf: [...oneOf, forModel(base, { name: '__sync_groups__' }, ['G'], { data })],
  };
}

function bothSpellings(action: ActionName): string[] {
  return [action, ACTION_LETTERS[action]];
}

/** The schema with a named schema for each property, because the description contains it once per model. */
function withNamedProperties(prefix: string, schema: JsonSchema, name: NameSchema): Json {
  const properties = Object.entries(schema['properties'] as Record<string, JsonSchema>).map(([key, property]) => [
    key,
    MODEL_PROPERTIES.includes(key)
      ? property
      : name(`${prefix}${key.charAt(0).toUpperCase()}${key.slice(1)}`, property),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Properties whose schema depends on the model. */
const MODEL_PROPERTIES: readonly string[] = ['modelName', 'action', 'payload', 'data', 'record'];

/** The schema for one model, and for the given actions. */
function forModel(schema: Json, { name }: Pick<Model, 'name'>, actions: readonly string[] | null, more: Json): Json {
  const { description: _, ...rest } = schema;
  const modelName = { type: 'string', const: name, description: 'The model.' };
  const action = { type: 'string', enum: actions, description: 'What happens to it.' };
  const properties = { ...(rest['properties'] as Json), modelName, ...(actions === null ? {} : { action }), ...more };
  return { ...rest, properties };
}

function closed(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { description, ...objectOf(properties) };
}
