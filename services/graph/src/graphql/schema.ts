import { makeExecutableSchema } from '@graphql-tools/schema';
import { lexicographicSortSchema, printSchema } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { ERROR_TYPE_DEFS } from './errors.ts';
import { WRITE_TYPE_DEFS } from './inputs/index.ts';
import { READ_RESOLVERS } from './read-resolvers.ts';
import { READ_TYPE_DEFS } from './types/index.ts';
import { WRITE_RESOLVERS } from './write-resolvers.ts';

/** The schema that is executed. Keeps graphql.schema.sdl. */
export const SCHEMA: GraphQLSchema = lexicographicSortSchema(
  makeExecutableSchema({
    typeDefs: [READ_TYPE_DEFS, WRITE_TYPE_DEFS, ERROR_TYPE_DEFS],
    resolvers: [READ_RESOLVERS, WRITE_RESOLVERS],
  }),
);

/** The schema as a document, the same that is executed. */
export const SDL: string = `${printSchema(SCHEMA)}\n`;
