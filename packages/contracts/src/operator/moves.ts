import { contract } from '../contract.ts';
import { count, hasMore, objectOf, okBody, text, textOrNull, timestamp, timestampOrNull, uuid } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';
import { byId, common, OPERATOR_ERRORS, pageQuery } from './parts.ts';

const moveSchema = objectOf({
  id: uuid,
  workspaceId: uuid,
  name: text,
  urlKey: text,
  from: { ...count, description: 'The cell that the workspace leaves.' },
  to: { ...count, description: 'The cell that it enters.' },
  state: {
    type: 'string',
    enum: ['moving', 'moved', 'given-up'],
    description: '`given-up`: the workspace is where it was, and its copy is deleted.',
  },
  step: { ...text, description: 'What is being done.' },
  records: { ...count, description: 'How many records were copied, those that changed meanwhile once more.' },
  problem: { ...textOrNull, description: 'Why it waits, or why it was given up.' },
  createdAt: timestamp,
  endedAt: timestampOrNull,
});

export type OperatorMove = TypeOf<typeof moveSchema>;

const oneMove = okBody({ move: moveSchema });

export const moveWorkspace = contract({
  ...common,
  id: 'operatorMoveWorkspace',
  method: 'POST',
  path: '/operator/workspaces/{workspaceId}/moves',
  summary: 'Begin to move a workspace to another cell',
  idempotencyKey: true,
  params: byId('workspaceId'),
  body: objectOf({ to: moveSchema.properties.to }),
  reply: { status: 202, schema: oneMove },
  errors: [...OPERATOR_ERRORS, 'conflict'],
});

export const listMoves = contract({
  ...common,
  id: 'operatorListMoves',
  method: 'GET',
  path: '/operator/moves',
  summary: 'List moves of workspaces, the newest first',
  query: pageQuery,
  reply: { status: 200, schema: okBody({ moves: { type: 'array', items: moveSchema }, hasMore }) },
});

export const readMove = contract({
  ...common,
  id: 'operatorReadMove',
  method: 'GET',
  path: '/operator/moves/{moveId}',
  summary: 'How far a move is',
  params: byId('moveId'),
  reply: { status: 200, schema: oneMove },
});

export const cancelMove = contract({
  ...common,
  id: 'operatorCancelMove',
  method: 'POST',
  path: '/operator/moves/{moveId}/cancellation',
  summary: 'Give up a move, until the workspace is in the other cell',
  idempotencyKey: true,
  params: byId('moveId'),
  reply: { status: 202, schema: oneMove },
  errors: [...OPERATOR_ERRORS, 'conflict'],
});
