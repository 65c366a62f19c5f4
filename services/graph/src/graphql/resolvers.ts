import type { IExecutableSchemaDefinition } from '@graphql-tools/schema';
import type { RequestContext } from './request-context.ts';

/** Resolvers of types, by their names. */
export type Resolvers = Exclude<
  IExecutableSchemaDefinition<RequestContext>['resolvers'],
  readonly unknown[] | null | undefined
>;
