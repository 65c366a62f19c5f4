import { CONNECTION_TYPE_DEFS } from './connections.ts';
import { FILTER_TYPE_DEFS } from './filters.ts';
import { OBJECT_TYPE_DEFS } from './objects.ts';
import { ORDER_TYPE_DEFS } from './orders.ts';
import { QUERY_TYPE_DEFS } from './query.ts';
import { SCALAR_TYPE_DEFS } from './scalars.ts';

/**
 * The types that can be read, derived from the registry: a model or a field that is added there appears here without another line.
 * Keeps graphql.schema.derived.
 */
export const READ_TYPE_DEFS: string = [
  SCALAR_TYPE_DEFS,
  OBJECT_TYPE_DEFS,
  CONNECTION_TYPE_DEFS,
  FILTER_TYPE_DEFS,
  ORDER_TYPE_DEFS,
  QUERY_TYPE_DEFS,
].join('\n\n');
