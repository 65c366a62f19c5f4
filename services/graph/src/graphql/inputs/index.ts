import { inputTypeDefs, mutationEntries, PLACE_TYPE_DEF } from './model-inputs.ts';
import { OPERATIONS } from './operations.ts';
import { block } from './sdl.ts';
import { TRASH_MUTATIONS, TRASH_QUERIES, TRASH_TYPE_DEFS } from './trash-inputs.ts';
import { WORKSPACE_MUTATIONS, WORKSPACE_QUERIES, WORKSPACE_TYPE_DEFS } from './workspace-inputs.ts';

/** The changes, their inputs and their results. */
export const WRITE_TYPE_DEFS = [
  WORKSPACE_TYPE_DEFS,
  TRASH_TYPE_DEFS,
  `extend type Query {\n${[...WORKSPACE_QUERIES, ...TRASH_QUERIES].join('\n')}\n}`,
  PLACE_TYPE_DEF,
  ...OPERATIONS.flatMap(inputTypeDefs),
  block(
    'Everything that can be changed; needs the scope `write`, and `admin` for workspaces, their people and who sees a private project. Changes of one request are applied in their order. A refused change has `success: false` and an `error`; the others are applied.',
    'type Mutation',
    [...OPERATIONS.flatMap(mutationEntries), ...WORKSPACE_MUTATIONS, ...TRASH_MUTATIONS],
  ),
].join('\n\n');
