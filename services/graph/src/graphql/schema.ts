import { makeExecutableSchema } from '@graphql-tools/schema';
import { isObjectType, lexicographicSortSchema, printSchema } from 'graphql';
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../context.ts';
import { ERROR_TYPE_DEFS } from './errors.ts';
import { WRITE_TYPE_DEFS } from './inputs/index.ts';
import { READ_RESOLVERS } from './read-resolvers.ts';
import { isUnsized } from './rules/cost.ts';
import { READ_TYPE_DEFS } from './types/index.ts';
import { WRITE_RESOLVERS } from './write-resolvers.ts';

/** The schema that is executed. Keeps graphql.schema.sdl. */
export const SCHEMA: GraphQLSchema = withCharges(
  lexicographicSortSchema(
    makeExecutableSchema({
      typeDefs: [READ_TYPE_DEFS, WRITE_TYPE_DEFS, ERROR_TYPE_DEFS],
      resolvers: [READ_RESOLVERS, WRITE_RESOLVERS],
    }),
  ),
);

/** The schema as a document, the same that is executed. */
export const SDL: string = `${printSchema(SCHEMA)}\n`;

/** Charges the lists whose size only reading shows. */
function withCharges(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve !== undefined && isUnsized(type.name, field)) field.resolve = charged(field.resolve);
    }
  }
  return schema;
}

type Resolve = GraphQLFieldResolver<unknown, unknown>;

function charged(resolve: Resolve): Resolve {
  return async (source, given, context, info) => {
    const list = (await resolve(source, given, context, info)) as readonly unknown[];
    (context as RequestContext).charge.read(info.fieldNodes, list.length);
    return list;
  };
}
