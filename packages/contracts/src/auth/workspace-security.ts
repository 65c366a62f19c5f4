import { contract } from '../contract.ts';
import { objectOf, okBody, workspaceParams } from '../parts.ts';

/* What a workspace requires of the people in it. The auth service keeps it, because it decides there who may sign in. */

const reply = {
  status: 200,
  description: 'What the workspace requires.',
  schema: okBody({
    security: {
      description: 'What a workspace requires of its members.',
      ...objectOf({
        requireSecondFactor: {
          type: 'boolean',
          description:
            'Members who sign in with a password need a passkey or an authenticator app. Members of an identity provider have their second factor there.',
        },
      }),
    },
  }),
  example: { ok: true, security: { requireSecondFactor: true } },
} as const;

export const getWorkspaceSecurity = contract({
  id: 'getWorkspaceSecurity',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/security',
  summary: 'Read what a workspace requires of its members',
  description: 'Every member can read it.',
  tag: 'Workspaces',
  scope: 'read',
  params: workspaceParams,
  reply,
  errors: ['not_found'],
});

export const updateWorkspaceSecurity = contract({
  id: 'updateWorkspaceSecurity',
  method: 'PATCH',
  path: '/api/workspaces/{workspaceId}/security',
  summary: 'Require a second factor of the members',
  description:
    'For owners. Members without a second factor are signed out, their apps are disconnected, and their API keys answer 403 `second_factor_required`, in all workspaces, until they add one. 409 while your own account has none. Who has none cannot join: 403.',
  tag: 'Workspaces',
  scope: 'admin',
  params: workspaceParams,
  body: objectOf({ requireSecondFactor: { type: 'boolean', description: 'Whether members need a second factor.' } }),
  bodyExample: { requireSecondFactor: true },
  reply,
  errors: ['not_found', 'forbidden', 'conflict'],
});
