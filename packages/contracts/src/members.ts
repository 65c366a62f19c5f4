import { contract, type BodyOf } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { LIMITS } from './limits.ts';
import { done, objectOf, okBody, textOrNull, timestamp, uuid, workspaceId, workspaceParams } from './parts.ts';
import { ROLES, ROLES_DESCRIBED, type Role } from './scopes.ts';
import type { TypeOf } from './type-of.ts';
import { workspaceExample, workspaceSchema } from './workspaces.ts';

/*
 * Members and invitations of a workspace. Reading needs the scope read, everything else admin: keeps
 * authentication.scopes.workspaces.
 */

/** Owners give members the role owner; an invitation cannot. */
export const INVITABLE_ROLES = ['admin', 'member', 'guest'] as const satisfies readonly Role[];
export type InvitableRole = (typeof INVITABLE_ROLES)[number];

export const memberSchema = {
  description: 'A person in a workspace.',
  ...objectOf({
    userId: { ...uuid, description: 'Unique identifier of the person, the same in every workspace.' },
    name: { type: 'string', description: 'Full name.' },
    email: { ...textOrNull, description: 'As the identity provider gave it.' },
    avatarUrl: { ...textOrNull, description: 'Absolute URL of a picture.' },
    role: { type: 'string', enum: ROLES, description: ROLES_DESCRIBED },
    joinedAt: { ...timestamp, description: 'When they created or joined the workspace.' },
  }),
} as const;

export type Member = TypeOf<typeof memberSchema>;

export const memberExample = {
  userId: EXAMPLE_IDS.person,
  name: 'Ada Example',
  email: 'ada@example.com',
  avatarUrl: null,
  role: 'owner',
  joinedAt: '2026-11-21T09:00:00.000Z',
} as const;

export const listMembers = contract({
  id: 'listMembers',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/members',
  summary: 'List the members of a workspace',
  description:
    'Every member can list all members. To change a role, update its `WorkspaceMember` record with `/sync/mutate`.',
  tag: 'Workspaces',
  scope: 'read',
  params: workspaceParams,
  reply: {
    status: 200,
    description: 'The members.',
    schema: okBody({
      members: { type: 'array', items: memberSchema, description: 'In the order in which they joined.' },
    }),
    example: { ok: true, members: [memberExample] },
  },
  errors: ['not_found'],
});

export const invitationSchema = {
  description: 'An invitation to a workspace, for one e-mail address or for every person with its code.',
  ...objectOf({
    id: { ...uuid, description: 'Use it to delete the invitation.' },
    workspaceId: { ...uuid, description: 'The workspace that it is for.' },
    email: { ...textOrNull, description: 'The only address that may redeem it; null for anyone.' },
    role: { type: 'string', enum: INVITABLE_ROLES, description: 'The role of the person who redeems it.' },
    createdBy: { ...uuid, description: 'The person who invited.' },
    createdAt: { ...timestamp, description: 'When it was created.' },
    expiresAt: { ...timestamp, description: 'When it expires.' },
  }),
} as const;

export type Invitation = TypeOf<typeof invitationSchema>;

const invitationExample = {
  id: EXAMPLE_IDS.invitation,
  workspaceId: workspaceExample.id,
  email: 'grace@example.com',
  role: 'member',
  createdBy: EXAMPLE_IDS.person,
  createdAt: '2026-11-21T09:00:00.000Z',
  expiresAt: '2026-11-28T09:00:00.000Z',
} as const;

/** An open invitation, as admins see it. */
export type OpenInvitation = TypeOf<typeof openInvitationSchema>;

const { id, role, email, expiresAt } = invitationSchema.properties;
const openInvitationSchema = {
  description: 'An invitation that can still be redeemed, without its code.',
  ...objectOf({ id, role, email, expiresAt }),
} as const;

export const removeMember = contract({
  id: 'removeMember',
  method: 'DELETE',
  path: '/api/workspaces/{workspaceId}/members/{userId}',
  summary: 'Remove a member, or leave',
  description:
    'Owners and admins can remove members; only owners can remove owners. To leave, send your own id. The last owner cannot be removed (409). Within a second the person loses access to the workspace, also on open sockets. A removed person cannot use invitations made before (410), and neither can a person whose role was lowered. A person who left can use them again.',
  tag: 'Workspaces',
  scope: 'admin',
  callers: ['graph'],
  params: objectOf({ workspaceId, userId: { ...uuid, description: 'The id of the person.' } }),
  reply: {
    status: 200,
    description: 'The person is no longer a member.',
    schema: okBody({
      openInvitations: {
        type: 'array',
        items: openInvitationSchema,
        description:
          'Invitations that people with their codes can still use, including another account of the removed person. Delete those you do not want. Newest first; empty when you left.',
      },
    }),
    example: {
      ok: true,
      openInvitations: [
        { id: EXAMPLE_IDS.invitation, role: 'member', email: null, expiresAt: '2026-11-28T09:00:00.000Z' },
      ],
    },
  },
  errors: ['not_found', 'forbidden', 'last_owner', 'conflict'],
});

export const listInvitations = contract({
  id: 'listInvitations',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/invitations',
  summary: 'List pending invitations',
  description: 'For owners and admins. Lists the invitations that are not expired, deleted or used up.',
  tag: 'Workspaces',
  scope: 'read',
  callers: ['graph'],
  params: workspaceParams,
  reply: {
    status: 200,
    description: 'The pending invitations, without their codes.',
    schema: okBody({ invitations: { type: 'array', items: invitationSchema, description: 'Newest first.' } }),
    example: { ok: true, invitations: [invitationExample] },
  },
  errors: ['not_found', 'forbidden'],
});

export type NewInvitation = NonNullable<BodyOf<typeof createInvitation>>;

/** Keeps workspaces.invitations.create and limits.invitation.days. */
export const createInvitation = contract({
  id: 'createInvitation',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/workspaces/{workspaceId}/invitations',
  summary: 'Invite people',
  description:
    'For owners and admins. With an e-mail address, the invitation can be used once, by that address. Without one, every person who has the code can use it until it expires. Only this answer shows the code. Where the operator set up mail, the invitation is mailed to its address too.',
  tag: 'Workspaces',
  scope: 'admin',
  callers: ['graph'],
  params: workspaceParams,
  // Every property is optional.
  bodyOptional: true,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      email: {
        type: ['string', 'null'],
        format: 'idn-email',
        maxLength: 320,
        description:
          'The only address that may redeem it, once. Without it, or with null, every person with the code may redeem it until it expires.',
      },
      role: {
        type: 'string',
        enum: INVITABLE_ROLES,
        default: 'member',
        description: `The role of the person who redeems it. ${ROLES_DESCRIBED}`,
      },
      expiresInDays: {
        type: 'integer',
        minimum: 1,
        maximum: 365,
        default: LIMITS.invitationDaysDefault,
        description: 'Days until it expires.',
      },
    },
  },
  bodyExample: { email: 'grace@example.com', role: 'member', expiresInDays: 7 },
  reply: {
    status: 201,
    description: 'The invitation with its code.',
    schema: okBody({
      invitation: {
        ...invitationSchema,
        ...objectOf({
          ...invitationSchema.properties,
          code: {
            type: 'string',
            description:
              'Give it to the people you invite, or the page where they join: `/join?code=...` of the authorization server. Only this answer shows it.',
          },
        }),
      },
    }),
    example: { ok: true, invitation: { ...invitationExample, code: 'Zk3v8Qm1rT0yW5xB7nJ2sLc9dHf4aGpE' } },
  },
  errors: ['not_found', 'forbidden', 'conflict', 'workspace_archived'],
});

export const deleteInvitation = contract({
  id: 'deleteInvitation',
  method: 'DELETE',
  path: '/api/workspaces/{workspaceId}/invitations/{invitationId}',
  summary: 'Delete a pending invitation',
  description: 'For owners and admins. Its code no longer works.',
  tag: 'Workspaces',
  scope: 'admin',
  callers: ['graph'],
  params: objectOf({ workspaceId, invitationId: { ...uuid, description: 'The `id` of the invitation.' } }),
  reply: done('The invitation is deleted.'),
  errors: ['not_found', 'forbidden'],
});

export const joinWorkspace = contract({
  id: 'joinWorkspace',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/workspaces/join',
  summary: 'Join a workspace with an invitation code',
  description: `When you are a member already, you get the same answer, and nothing changes, not even your role. 410 when you were removed from the workspace, or your role was lowered, after the invitation was made. 429 after ${LIMITS.wrongCodesPerMinuteMax} wrong codes of a person in a minute, by whichever way, unless the operator set another number.`,
  tag: 'Workspaces',
  scope: 'admin',
  callers: ['graph'],
  body: objectOf({
    code: { type: 'string', minLength: 1, maxLength: 200, description: 'The code that you were given.' },
  }),
  bodyExample: { code: 'Zk3v8Qm1rT0yW5xB7nJ2sLc9dHf4aGpE' },
  reply: {
    status: 200,
    description: 'You are a member now, or were one already.',
    schema: okBody({
      workspace: workspaceSchema,
      role: { type: 'string', enum: ROLES, description: 'Your role in it.' },
    }),
    example: { ok: true, workspace: { ...workspaceExample, role: 'member' }, role: 'member' },
  },
  errors: ['not_found', 'forbidden', 'wrong_address', 'invitation_expired', 'conflict', 'workspace_archived'],
});

/**
 * Joins as `joinWorkspace` does, for a person who signs in by password. Their address is not verified, unless a mailed link
 * proved it; for the invitation that names it, its code is enough.
 */
export const internalJoinWorkspace = contract({
  id: 'internalJoinWorkspace',
  method: 'POST',
  path: '/internal/invitations/join',
  summary: 'Join a workspace with an invitation code, with the address of an account',
  tag: 'Internal',
  scope: 'admin',
  internal: { callers: ['auth'] },
  body: objectOf({ code: { type: 'string', minLength: 1, maxLength: 200 }, address: textOrNull }),
  reply: { status: 200, schema: okBody({ role: { type: 'string', enum: ROLES } }) },
  errors: ['not_found', 'forbidden', 'wrong_address', 'invitation_expired', 'conflict', 'workspace_archived'],
});

/** What the page of an invitation shows to a person with its code: on behalf of who is signed in, otherwise of the service. */
export const internalReadInvitation = contract({
  id: 'internalReadInvitation',
  method: 'POST',
  path: '/internal/invitations/read',
  summary: 'An invitation that can be redeemed, by its code',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['auth'] },
  body: objectOf({ code: { type: 'string', minLength: 1, maxLength: 200 } }),
  reply: {
    status: 200,
    schema: okBody({
      invitation: objectOf({
        workspaceId: uuid,
        workspaceName: { type: 'string' },
        email: textOrNull,
        role: { type: 'string', enum: ROLES },
        createdBy: uuid,
      }),
    }),
  },
  errors: ['not_found', 'invitation_expired'],
});
