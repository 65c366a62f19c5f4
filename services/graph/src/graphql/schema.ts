import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { GRAPH_ERRORS } from '../domain/errors.ts';
import type { RequestContext } from './request-context.ts';
import { inTurns } from './in-turns.ts';
import { READ_RESOLVERS } from './read-resolvers.ts';
import { isUnsized } from './rules/cost.ts';
import { block, type Entries } from './sdl.ts';
import { inputTypeDefs, mutationEntries, PLACE_TYPE_DEF } from './inputs/model-inputs.ts';
import { OPERATIONS } from './inputs/operations.ts';
import { TRASH_MUTATIONS, TRASH_QUERIES, TRASH_TYPE_DEFS } from './inputs/trash-inputs.ts';
import { WORKSPACE_MUTATIONS, WORKSPACE_QUERIES, WORKSPACE_TYPE_DEFS } from './inputs/workspace-inputs.ts';
import { selectedField } from './selected-field.ts';
import { CONNECTION_TYPE_DEFS } from './types/connections.ts';
import { FILTER_TYPE_DEFS } from './types/filters.ts';
import { OBJECT_TYPE_DEFS } from './types/objects.ts';
import { ORDER_TYPE_DEFS } from './types/orders.ts';
import { QUERIES, QUERY_TYPE_DEFS } from './types/query.ts';
import { SCALAR_TYPE_DEFS } from './types/scalars.ts';
import { WRITE_RESOLVERS } from './write-resolvers.ts';

/**
 * The types, derived from the registry: a model or a field that is added there appears here without another line. Keeps
 * graphql.schema.derived.
 */
const TYPE_DEFS: string[] = [
  SCALAR_TYPE_DEFS,
  OBJECT_TYPE_DEFS,
  CONNECTION_TYPE_DEFS,
  FILTER_TYPE_DEFS,
  ORDER_TYPE_DEFS,
  QUERY_TYPE_DEFS,
  WORKSPACE_TYPE_DEFS,
  TRASH_TYPE_DEFS,
  PLACE_TYPE_DEF,
  ...OPERATIONS.flatMap(inputTypeDefs),
  block(
    'Everything that can be read. You see the records of your workspaces, and those of private projects that you are a member of; nothing else exists for you.',
    'type Query',
    { ...QUERIES, ...WORKSPACE_QUERIES, ...TRASH_QUERIES },
  ),
  block(
    'Everything that can be changed; needs the scope `write`, and `admin` for workspaces, their people and who sees a private project. Changes of one request are applied in their order. A refused change has `success: false` and an `error`; the others are applied.',
    'type Mutation',
    Object.assign({}, ...OPERATIONS.map(mutationEntries), WORKSPACE_MUTATIONS, TRASH_MUTATIONS) as Entries,
  ),
  block(
    'Why something failed, for programs: `extensions.code` of an error, and `code` of a refused change.',
    'enum ErrorCode',
    GRAPH_ERRORS,
  ),
];

/** The schema that is executed. Keeps graphql.schema.sdl. */
export const SCHEMA: GraphQLSchema = withLists(
  lexicographicSortSchema(
    makeExecutableSchema({
      typeDefs: TYPE_DEFS,
      resolvers: [READ_RESOLVERS, WRITE_RESOLVERS],
    }),
  ),
);

/** The schema as a document, the same that is executed. */
export const SDL: string = `${printSchema(SCHEMA)}\n`;

type Resolve = GraphQLFieldResolver<unknown, RequestContext>;

/** Charges the lists whose size only reading shows, and hands the records of every list out in turns. */
function withLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type)) || !isCompositeType(getNamedType(field.type))) continue;
      const resolve = (field.resolve as Resolve | undefined) ?? selectedField;
      field.resolve = listed(isUnsized(type.name, field) ? charged(resolve) : resolve) as typeof field.resolve;
    }
  }
  return schema;
}

function charged(resolve: Resolve): Resolve {
  return async (source, given, context, info) => {
    const list = (await resolve(source, given, context, info)) as readonly unknown[];
    context.charge.read(info.fieldNodes, list.length);
    return list;
  };
}

function listed(resolve: Resolve): Resolve {
  return (source, given, context, info) => {
    const list = resolve(source, given, context, info);
    return list instanceof Promise
      ? list.then((read: unknown) => inTurns(read, context, info))
      : inTurns(list, context, info);
  };
}
