import { contract } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { memberExample, memberSchema } from './members.ts';
import {
  count,
  done,
  hasMore,
  objectOf,
  okBody,
  pageQuery,
  timestamp,
  timestampOrNull,
  uuid,
  workspaceId,
  workspaceParams,
} from './parts.ts';
import type { TypeOf } from './type-of.ts';

/*
 * Private projects as owners and admins of the workspace see them without being members: the name and the members, so that a
 * project without members can get new ones. Its records are readable by its members only, through the sync routes.
 */

const projectId = {
  ...uuid,
  description: 'The id of a private project of the workspace. 404 for any other project.',
} as const;

const projectParams = objectOf({ workspaceId, projectId });

const reading = { tag: 'Workspaces', scope: 'read', callers: ['graph'], errors: ['not_found', 'forbidden'] } as const;
const changing = {
  ...reading,
  scope: 'admin',
  errors: ['not_found', 'forbidden', 'conflict', 'workspace_archived'],
} as const;

const privateProjectSchema = {
  description: 'A private project, without its content.',
  ...objectOf({
    id: { ...uuid, description: 'Unique identifier of the project.' },
    name: { type: 'string', description: 'Shown to people.' },
    key: { type: 'string', description: 'Short code.' },
    leadId: { ...uuid, type: ['string', 'null'], description: 'The lead.' },
    creatorId: { ...uuid, description: 'The person who created it.' },
    memberCount: { ...count, description: 'How many members of the workspace see it.' },
    createdAt: { ...timestamp, description: 'When it was created.' },
    archivedAt: { ...timestampOrNull, description: 'When it was archived; null while it is not.' },
  }),
} as const;

export type PrivateProject = TypeOf<typeof privateProjectSchema>;

export const listPrivateProjects = contract({
  ...reading,
  id: 'listPrivateProjects',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/private-projects',
  summary: 'List the private projects of a workspace',
  description:
    'For owners and admins, also when they are not in these projects. Shows names and people, never the content. In the order of the ids.',
  params: workspaceParams,
  query: pageQuery('The `id` of the last project of the page before.'),
  reply: {
    status: 200,
    description: 'One page of the private projects.',
    schema: okBody({
      projects: { type: 'array', items: privateProjectSchema, description: 'Ascending by `id`.' },
      hasMore,
    }),
    example: {
      ok: true,
      projects: [
        {
          id: EXAMPLE_IDS.project,
          name: 'Hiring',
          key: 'HIRE',
          leadId: EXAMPLE_IDS.person,
          creatorId: EXAMPLE_IDS.person,
          memberCount: 1,
          createdAt: '2026-11-21T09:00:00.000Z',
          archivedAt: null,
        },
      ],
      hasMore: false,
    },
  },
});

const projectMemberSchema = {
  ...memberSchema,
  description: 'A person in a private project, with their role in the workspace.',
  properties: { ...memberSchema.properties, joinedAt: { ...timestamp, description: 'When they joined the project.' } },
} as const;

const MEMBERS_PATH = '/api/workspaces/{workspaceId}/private-projects/{projectId}/members';

export const listPrivateProjectMembers = contract({
  ...reading,
  id: 'listPrivateProjectMembers',
  method: 'GET',
  path: MEMBERS_PATH,
  summary: 'List the members of a private project',
  description: 'For owners and admins of the workspace. In the order of their ids.',
  params: projectParams,
  query: pageQuery('The `userId` of the last member of the page before.'),
  reply: {
    status: 200,
    description: 'One page of the members of the project.',
    schema: okBody({
      members: { type: 'array', items: projectMemberSchema, description: 'Ascending by `userId`.' },
      hasMore,
    }),
    example: { ok: true, members: [memberExample], hasMore: false },
  },
});

export const addPrivateProjectMember = contract({
  ...changing,
  id: 'addPrivateProjectMember',
  method: 'POST',
  path: MEMBERS_PATH,
  summary: 'Add a member of the workspace to a private project',
  description:
    'For owners and admins of the workspace. Everyone in the project sees the new member. For a person who is in the project already, the answer is the same and nothing changes.',
  params: projectParams,
  body: objectOf({ userId: { ...uuid, description: 'The id of a member of the workspace.' } }),
  bodyExample: { userId: EXAMPLE_IDS.person },
  reply: {
    status: 200,
    description: 'The person is in the project now, or was already.',
    schema: okBody({ member: projectMemberSchema }),
    example: { ok: true, member: memberExample },
  },
});

export const removePrivateProjectMember = contract({
  ...changing,
  id: 'removePrivateProjectMember',
  method: 'DELETE',
  path: `${MEMBERS_PATH}/{userId}`,
  summary: 'Remove a person from a private project',
  description: 'For owners and admins of the workspace. The person stays in the workspace.',
  params: objectOf({ workspaceId, projectId, userId: { ...uuid, description: 'The id of the person.' } }),
  reply: done('The person is no longer in the project.'),
});
