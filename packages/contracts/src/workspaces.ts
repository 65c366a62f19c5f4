import { contract, type BodyOf } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { NOT_BLANK_PATTERN, URL_KEY_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';
import { objectOf, okBody, text, textOrNull, timestamp, timestampOrNull, uuid, workspaceParams } from './parts.ts';
import { ROLES, ROLES_DESCRIBED } from './scopes.ts';
import type { TypeOf } from './type-of.ts';

/** Length in Unicode code points. */
export const NAME = { min: 1, max: 100 } as const;
export const URL_KEY = { min: 3, max: 50, pattern: URL_KEY_PATTERN } as const;

/** Keeps workspaces.record.fields. */
export const workspaceSchema = {
  description: 'A workspace of one organization, with your role in it.',
  ...objectOf(
    {
      id: { ...uuid, description: 'Unique identifier; never changes.' },
      name: { type: 'string', description: 'Shown to people.' },
      urlKey: { type: 'string', description: 'Its unique name in URLs; never changes.' },
      logoUrl: { ...textOrNull, description: 'Absolute URL of a picture.' },
      role: { type: 'string', enum: ROLES, description: `Your role in it. ${ROLES_DESCRIBED}` },
      createdAt: { ...timestamp, description: 'When it was created.' },
      updatedAt: { ...timestamp, description: 'When its name or logo last changed.' },
      archivedAt: {
        ...timestampOrNull,
        description: `When it was deleted: for ${LIMITS.workspaceTrashDays} days its owners can restore it. Null while it is not.`,
      },
    },
    {
      baseUrl: {
        ...text,
        description: 'In lists of a service with several addresses: that of the API for this workspace.',
      },
    },
  ),
} as const;

export type Workspace = TypeOf<typeof workspaceSchema>;

export const workspaceExample = {
  id: EXAMPLE_IDS.workspace,
  name: 'Platform',
  urlKey: 'platform',
  logoUrl: null,
  role: 'owner',
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
  archivedAt: null,
} as const;

export const listWorkspaces = contract({
  id: 'listWorkspaces',
  method: 'GET',
  path: '/api/workspaces',
  summary: 'List your workspaces',
  description:
    'Returns every workspace that you are a member of, without deleted ones. A key that is limited to one workspace gets only that one. A service may have several addresses, each with workspaces of its own: then ask at those of `elsewhere` too, with the same credential.',
  tag: 'Workspaces',
  scope: 'read',
  reply: {
    status: 200,
    description: 'Your workspaces; an empty list when there are none.',
    schema: okBody(
      { workspaces: { type: 'array', items: workspaceSchema, description: 'In the order of their names.' } },
      {
        elsewhere: {
          type: 'array',
          items: { type: 'string' },
          description:
            'Further addresses of the API at which you may have workspaces: list them there. Left out where a service has one address.',
        },
      },
    ),
    example: { ok: true, workspaces: [workspaceExample] },
  },
});

const workspaceReply = {
  status: 200,
  description: 'The workspace.',
  schema: okBody({ workspace: workspaceSchema }),
  example: { ok: true, workspace: workspaceExample },
} as const;

export const getWorkspaceBySlug = contract({
  id: 'getWorkspaceBySlug',
  method: 'GET',
  path: '/api/workspaces/by-slug/{slug}',
  summary: 'Read one workspace by its urlKey',
  description: 'Finds a workspace by its `urlKey`, which is case-sensitive. One that you do not belong to is 404.',
  tag: 'Workspaces',
  scope: 'read',
  params: objectOf({
    slug: { type: 'string', minLength: 1, maxLength: 100, description: 'The `urlKey` of the workspace.' },
  }),
  reply: workspaceReply,
  errors: ['not_found'],
});

export type NewWorkspace = BodyOf<typeof createWorkspace>;

/**
 * Keeps workspaces.create.name, workspaces.create.url-key, workspaces.create.logo-url, limits.workspace.name and
 * limits.workspace.url-key.
 * Keeps workspaces.create.answer.
 */
export const createWorkspace = contract({
  id: 'createWorkspace',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/workspaces',
  summary: 'Create a workspace and become its owner',
  description: `A person can own at most ${LIMITS.workspacesOwnedMax} workspaces; 409 beyond that.`,
  tag: 'Workspaces',
  scope: 'admin',
  callers: ['graph'],
  body: objectOf(
    {
      name: {
        type: 'string',
        minLength: NAME.min,
        maxLength: NAME.max,
        pattern: NOT_BLANK_PATTERN,
        description: 'Shown to people. Not blank; length in Unicode code points.',
      },
      urlKey: {
        type: 'string',
        minLength: URL_KEY.min,
        maxLength: URL_KEY.max,
        pattern: URL_KEY.pattern,
        description: 'Its unique name in URLs: lowercase letters, digits and hyphens. It cannot be changed later.',
      },
    },
    {
      logoUrl: {
        type: ['string', 'null'],
        maxLength: 2048,
        format: 'http-url',
        description: 'Absolute http or https URL of a picture; null for none.',
      },
      timeZone: {
        type: 'string',
        maxLength: 64,
        description: 'The time zone in which its days begin, such as `Europe/Berlin`. Default: `UTC`.',
      },
    },
  ),
  bodyExample: { name: 'Platform', urlKey: 'platform' },
  reply: { ...workspaceReply, status: 201, description: 'The new workspace, with you as its owner.' },
  errors: ['slug_taken', 'forbidden', 'conflict'],
});

export const deleteWorkspace = contract({
  id: 'deleteWorkspace',
  method: 'POST',
  path: '/api/workspaces/{workspaceId}/deletion',
  summary: 'Delete a workspace',
  description: `For its owners. For ${LIMITS.workspaceTrashDays} days its members can only read it, and an owner can restore it. Then it is deleted for good with everything in it.`,
  tag: 'Workspaces',
  scope: 'admin',
  params: workspaceParams,
  body: objectOf({
    urlKey: { type: 'string', maxLength: 100, description: 'The `urlKey` of the workspace, as a confirmation.' },
  }),
  bodyExample: { urlKey: 'platform' },
  reply: {
    ...workspaceReply,
    description: 'The workspace, with the time from which its days count in `archivedAt`.',
    example: { ok: true, workspace: { ...workspaceExample, archivedAt: '2026-11-22T09:00:00.000Z' } },
  },
  errors: ['not_found', 'forbidden', 'conflict'],
});

export const restoreWorkspace = contract({
  id: 'restoreWorkspace',
  method: 'POST',
  path: '/api/workspaces/{workspaceId}/restoration',
  summary: 'Restore a deleted workspace',
  description: `For its owners, for ${LIMITS.workspaceTrashDays} days after it was deleted. When it is not deleted, nothing changes.`,
  tag: 'Workspaces',
  scope: 'admin',
  params: workspaceParams,
  reply: workspaceReply,
  errors: ['not_found', 'forbidden', 'conflict'],
});
