import type { Resolvers } from './resolvers.ts';

export const WRITE_RESOLVERS: Resolvers = {
  Mutation: { nothing: () => true },
};
