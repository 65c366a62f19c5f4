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
import type { RequestContext } from './request-context.ts';
import { ERROR_TYPE_DEFS } from './types/errors.ts';
import { inTurns } from './in-turns.ts';
import { WRITE_TYPE_DEFS } from './inputs/index.ts';
import { READ_RESOLVERS } from './read-resolvers.ts';
import { isUnsized } from './rules/cost.ts';
import { READ_TYPE_DEFS } from './types/index.ts';
import { selectedField } from './selected-field.ts';
import { WRITE_RESOLVERS } from './write-resolvers.ts';

/** The schema that is executed. Keeps graphql.schema.sdl. */
export const SCHEMA: GraphQLSchema = withLists(
  lexicographicSortSchema(
    makeExecutableSchema({
      typeDefs: [READ_TYPE_DEFS, WRITE_TYPE_DEFS, ERROR_TYPE_DEFS],
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
