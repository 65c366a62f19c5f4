import type { Resolvers } from './resolvers.ts';

export const READ_RESOLVERS: Resolvers = {
  Query: { viewerId: (_source, _args, { principal }) => principal.userId },
};
