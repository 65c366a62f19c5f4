import { contract } from '../contract.ts';
import { count, hasMore, objectOf, okBody, text, timestamp, timestampOrNull, uuid } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';
import { away, byId, common, OPERATOR_ERRORS, pageQuery } from './parts.ts';

const workspaceSchema = objectOf(
  {
    id: uuid,
    name: text,
    urlKey: text,
    members: count,
    owners: {
      type: 'array',
      description: 'The owners who joined first.',
      items: objectOf({ userId: uuid, name: text }),
    },
    createdAt: timestamp,
    archivedAt: {
      ...timestampOrNull,
      description: 'When it was deleted; it can be restored for a time. Null: it is not.',
    },
  },
  {
    cell: { ...count, description: 'Where it is, with several cells.' },
  },
);

export type OperatorWorkspace = TypeOf<typeof workspaceSchema>;

/** Of an operation on one workspace, which answers with that workspace. */
const ofWorkspace = {
  ...common,
  params: byId('workspaceId'),
  reply: { status: 200, schema: okBody({ workspace: workspaceSchema }) },
} as const;

export const listWorkspaces = contract({
  ...common,
  id: 'operatorListWorkspaces',
  method: 'GET',
  path: '/operator/workspaces',
  summary: 'List or find workspaces, by name',
  query: pageQuery,
  reply: { status: 200, schema: okBody({ workspaces: { type: 'array', items: workspaceSchema }, hasMore }, { away }) },
});

export const deleteWorkspace = contract({
  ...ofWorkspace,
  id: 'operatorDeleteWorkspace',
  method: 'POST',
  path: '/operator/workspaces/{workspaceId}/deletion',
  summary: 'Delete a workspace, as an owner of it can',
  idempotencyKey: true,
  body: objectOf({
    urlKey: { type: 'string', maxLength: 100, description: 'The `urlKey` of the workspace, as a confirmation.' },
  }),
  errors: [...OPERATOR_ERRORS, 'conflict'],
});

export const restoreWorkspace = contract({
  ...ofWorkspace,
  id: 'operatorRestoreWorkspace',
  method: 'POST',
  path: '/operator/workspaces/{workspaceId}/restoration',
  summary: 'Restore a deleted workspace',
  idempotencyKey: true,
  errors: [...OPERATOR_ERRORS, 'conflict'],
});

export const addOwner = contract({
  ...ofWorkspace,
  id: 'operatorAddOwner',
  method: 'POST',
  path: '/operator/workspaces/{workspaceId}/owners',
  summary: 'Make a person an owner of a workspace, for one whose owners left',
  idempotencyKey: true,
  body: objectOf({ userId: uuid }),
  errors: [...OPERATOR_ERRORS, 'conflict', 'workspace_archived'],
});

export const readUsage = contract({
  ...common,
  id: 'operatorReadUsage',
  method: 'GET',
  path: '/operator/usage',
  summary: 'Figures of the installation',
  reply: {
    status: 200,
    schema: okBody({
      usage: objectOf(
        {
          people: { ...count, description: 'Without those that were erased.' },
          peopleDisabled: count,
          peopleActive: { ...count, description: 'With a session, key or app in use within 30 days.' },
          workspaces: count,
          workspacesDeleted: { ...count, description: 'Those that can be restored.' },
          tasks: count,
          databaseBytes: count,
        },
        { away },
      ),
    }),
  },
});
