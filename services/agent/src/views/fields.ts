import { typed, type JsonSchema, type Typed } from '@wts/contracts';
import { recordSchema, relationsOf, type Field, type Model, type Relation } from '@wts/models';
import { list, object, text } from './parts.ts';

/*
 * How records are shown to a model of language: their schemas and their selections in GraphQL, from the declarations of the models.
 * A field that is added to a declaration is shown, and may be set, without a line here.
 */

export interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Keyed extends Named {
  readonly key: string;
}

const NAMED = object({ id: text, name: text });
const KEYED = object({ id: text, key: text, name: text });

export interface ViewOptions {
  /** Fields that are left out. */
  readonly hidden: readonly string[];
  /** Fields whose schema is another one. */
  readonly shown?: Readonly<Record<string, JsonSchema>>;
  /** Descriptions of fields, where their name says too little. */
  readonly texts?: Readonly<Record<string, string>>;
}

export interface View<Node> {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** An object with all of them. */
  readonly schema: Typed<Node>;
  /** The fields of a fragment. */
  readonly selection: readonly string[];
}

/** A record with the names of the records that it refers to in place of their ids. `Node` is its type. */
export function viewOf<Node>(declared: Model, { hidden, shown = {}, texts = {} }: ViewOptions): View<Node> {
  const { properties: all } = recordSchema(declared) as { readonly properties: Readonly<Record<string, JsonSchema>> };
  const relations = namedRelations(declared);
  const fields = Object.entries(all).filter(([name]) => !hidden.includes(name));
  const views = fields.map(([field, schema]) => {
    const relation = relations.get(field);
    const name = relation?.name ?? field;
    const of = shown[name] ?? (relation === undefined ? plainSchema(schema) : relationSchema(relation));
    const described = texts[name] === undefined ? of : { ...of, description: texts[name] };
    return { name, schema: described, selection: relation === undefined ? name : selectionOf(relation) };
  });
  const properties = Object.fromEntries(views.map(({ name, schema }) => [name, schema]));
  const selection = views.map(({ selection: field }) => field);
  return { properties, schema: typed<Node>(object(properties)), selection };
}

/** What sets a field: its type with its bounds. */
export function inputOf<Value>({ schema, doc }: Field<Value>, description = doc): Typed<Value> {
  return typed<Value>({ ...bounded(schema), description });
}

/** References to records with a name, by their field. A workspace is shown by its id: other tools list workspaces. */
function namedRelations(declared: Model): ReadonlyMap<string, Relation> {
  const named = relationsOf(declared).filter(({ target }) => 'name' in target.fields && target.name !== 'Workspace');
  return new Map(named.map((relation) => [relation.field, relation]));
}

const isKeyed = ({ target }: Relation): boolean => 'key' in target.fields;

function relationSchema(relation: Relation): JsonSchema {
  const one = isKeyed(relation) ? KEYED : NAMED;
  return relation.many ? list(one) : { anyOf: [one, { type: 'null' }] };
}

function selectionOf(relation: Relation): string {
  const { name, many } = relation;
  const fields = isKeyed(relation) ? '{ id key name }' : '{ id name }';
  return many ? `${name}(first: 50, includeArchived: true) { nodes ${fields} }` : `${name} ${fields}`;
}

/** Only what a reader needs: a list of tools repeats the schema of a record many times. */
function plainSchema(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = bounded(schema);
  return values === undefined ? { type } : { type, enum: values };
}

/** One schema where the model has a choice between it and null. */
function bounded(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['anyOf'])) return schema;
  const [first] = schema['anyOf'] as readonly JsonSchema[];
  return { ...first, type: [first?.['type'], 'null'] };
}
