import { entry } from './sdl.ts';

/*
 * What the workspace and auth services decide: workspaces, invitations, members and API keys. The same operations exist in REST, and need the
 * same scope there.
 */

export const WORKSPACE_TYPE_DEFS = `
  "Why a change was refused."
  type MutationError {
    "For programs."
    code: ErrorCode!
    "For people: what is wrong and what to do. It names the field at fault."
    message: String!
  }

  "What an API key may do."
  enum ApiKeyPermissions {
    "Read only: the scope \`read\`."
    READ_ONLY
    "Everything: the scopes \`read\`, \`write\` and \`admin\`."
    FULL_ACCESS
  }

  "A personal API key, without its token."
  type ApiKey {
    "Unique identifier; use it to revoke the key."
    id: ID!
    "What the key is for."
    label: String!
    "First characters of the token, to recognize the key."
    keyPrefix: String!
    "What it may do."
    permissions: ApiKeyPermissions!
    "The owner of the key."
    userId: ID!
    "The owner of the key."
    user: User
    "The only workspace that the key has access to; null when it has access to all workspaces of its owner."
    workspaceId: ID
    "The only workspace that the key has access to."
    workspace: Workspace
    "When it expires; null for never."
    expiresAt: DateTime
    "When it was created."
    createdAt: DateTime!
    "When it was last used, up to a minute late."
    lastUsedAt: DateTime
  }

  "An invitation to a workspace, for one e-mail address or for every person with its code."
  type Invitation {
    "Use it to delete the invitation."
    id: ID!
    "The workspace that it is for."
    workspaceId: ID!
    "The workspace that it is for."
    workspace: Workspace
    "The only address that may redeem it; null for every person with the code."
    email: String
    "The role of the person who redeems it: \`admin\`, \`member\` or \`guest\`."
    role: WorkspaceMemberRole!
    "The person who invited."
    createdBy: ID!
    "The person who invited."
    creator: User
    "When it was created."
    createdAt: DateTime!
    "When it expires."
    expiresAt: DateTime!
  }

  "A private project, as owners and admins of the workspace see it: without its content."
  type PrivateProject {
    "Unique identifier of the project."
    id: ID!
    "Shown to people."
    name: String!
    "Short code."
    key: String!
    "The lead."
    leadId: ID
    "The lead."
    lead: User
    "The person who created it."
    creatorId: ID!
    "The person who created it."
    creator: User
    "How many members of the workspace see it."
    memberCount: Int!
    "When it was created."
    createdAt: DateTime!
    "When it was archived; null while it is not."
    archivedAt: DateTime
  }

  "A person in a private project, with their role in the workspace."
  type PrivateProjectMember {
    "Unique identifier of the person."
    userId: ID!
    "The person."
    user: User
    "Full name."
    name: String!
    "As the identity provider gave it."
    email: String
    "Absolute URL of a picture."
    avatarUrl: String
    "Role in the workspace."
    role: WorkspaceMemberRole!
    "When they joined the project."
    joinedAt: DateTime!
  }

  "One page of private projects."
  type PrivateProjectPage {
    "Ascending by \`id\`."
    nodes: [PrivateProject!]!
    "True when there is another page: pass the \`id\` of the last one as \`after\`."
    hasMore: Boolean!
  }

  "One page of the members of a private project."
  type PrivateProjectMemberPage {
    "Ascending by \`userId\`."
    nodes: [PrivateProjectMember!]!
    "True when there is another page: pass the \`userId\` of the last one as \`after\`."
    hasMore: Boolean!
  }

  "The new API key, with its token."
  type ApiKeyCreatePayload {
    "Whether the key was created."
    success: Boolean!
    "The key."
    apiKey: ApiKey
    "Send it as \`Authorization: Bearer <token>\`. Only this answer shows it: store it now, and keep it secret."
    token: String
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  "The result of a change that has no record."
  type DonePayload {
    "Whether the change was accepted."
    success: Boolean!
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  "A new workspace. You become its owner."
  input WorkspaceCreateInput {
    "Shown to people; 1 to 100 characters."
    name: String!
    "Its unique name in URLs: 3 to 50 lowercase letters, digits and hyphens. It cannot be changed later."
    urlKey: String!
    "Absolute http or https URL of a picture."
    logoUrl: String
  }

  "The workspace that was created or joined."
  type WorkspaceAccessPayload {
    "Whether it was accepted."
    success: Boolean!
    "The workspace."
    workspace: Workspace
    "Your role in it."
    role: WorkspaceMemberRole
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  "A new invitation."
  input InvitationCreateInput {
    "The only address that may redeem it, once. Without it, every person with the code may redeem it until it expires."
    email: String
    "The role of the person who redeems it: \`admin\`, \`member\` or \`guest\`. Default: \`member\`."
    role: WorkspaceMemberRole
    "Days until it expires: 1 to 365. Default: 7."
    expiresInDays: Int
  }

  "The new invitation, with its code."
  type InvitationCreatePayload {
    "Whether the invitation was created."
    success: Boolean!
    "The invitation."
    invitation: Invitation
    "Give it to the people you invite. Only this answer shows it."
    code: String
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  "The result of a removal of a member."
  type MemberRemovePayload {
    "Whether the person is no longer a member."
    success: Boolean!
    "Invitations that people with their codes can still use, including another account of the removed person."
    openInvitations: [OpenInvitation!]!
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  "An invitation that can still be redeemed, without its code."
  type OpenInvitation {
    "Use it to delete the invitation."
    id: ID!
    "The role of the person who redeems it."
    role: WorkspaceMemberRole!
    "The only address that may redeem it; null for every person with the code."
    email: String
    "When it expires."
    expiresAt: DateTime!
  }

  "The new member of a private project."
  type PrivateProjectMemberPayload {
    "Whether the person is in the project now."
    success: Boolean!
    "The member."
    member: PrivateProjectMember
    "Why it was refused; null when it was accepted."
    error: MutationError
  }

  extend type Query {
    "Your API keys that are not revoked, newest first; needs the scope \`admin\`."
    apiKeys(
      "Lists all keys that are limited to this workspace, for its owners."
      workspaceId: ID
    ): [ApiKey!]!
    "The pending invitations of a workspace, newest first; for its owners and admins."
    invitations(
      "The workspace."
      workspaceId: ID!
    ): [Invitation!]!
    "The private projects of a workspace, for its owners and admins, also when they are not in these projects. Names and people, never the content."
    privateProjects(
      "The workspace."
      workspaceId: ID!
      "The \`id\` of the last project of the page before."
      after: ID
      "Size of the page: 1 to 500. Default: 100."
      limit: Int
    ): PrivateProjectPage!
    "The members of a private project, for owners and admins of the workspace."
    privateProjectMembers(
      "The workspace."
      workspaceId: ID!
      "The private project."
      projectId: ID!
      "The \`userId\` of the last member of the page before."
      after: ID
      "Size of the page: 1 to 500. Default: 100."
      limit: Int
    ): PrivateProjectMemberPage!
  }
`;

const REPEATED = entry(
  'Your name for this change, at most 128 characters. Sent again within a day, it gets the first answer and is not applied twice.',
  'clientTxId: String',
);

const PRIVATE_PROJECT_MEMBER = `
    "The workspace."
    workspaceId: ID!
    "The private project."
    projectId: ID!
    "The person."
    userId: ID!
  `;

/** Each needs the scope `admin`, as in REST. */
export const WORKSPACE_MUTATIONS: readonly string[] = [
  entry(
    'Creates an API key; needs the scope `admin`. When you use an expiring key for this request, the new key expires with it.',
    `apiKeyCreate(
    "What the key is for: 1 to 100 characters."
    label: String!
    "What it may do."
    permissions: ApiKeyPermissions! = FULL_ACCESS
    "When it expires. Default: never."
    expiresAt: DateTime
    "Limits the key to this workspace. Default: all workspaces that you are in."
    workspaceId: ID
  ${REPEATED}
  ): ApiKeyCreatePayload!`,
  ),
  entry(
    'Revokes your own API key, or one that is limited to a workspace you own; needs the scope `admin`. It stops working everywhere within a second, and its open sockets close.',
    `apiKeyRevoke(
    "The id of the key, not its token."
    id: ID!
    "Also revokes all keys that were made with it. Use this after a leak."
    includeMade: Boolean = false
  ): DonePayload!`,
  ),
  entry(
    'Creates a workspace and makes you its owner; needs the scope `admin`.',
    `workspaceCreate(
    "The new workspace."
    input: WorkspaceCreateInput!
  ${REPEATED}
  ): WorkspaceAccessPayload!`,
  ),
  entry(
    'Joins a workspace with an invitation code; needs the scope `admin`. When you are a member already, nothing changes.',
    `workspaceJoin(
    "The code that you were given."
    code: String!
  ${REPEATED}
  ): WorkspaceAccessPayload!`,
  ),
  entry(
    'Removes a member, or lets you leave; needs the scope `admin`. Owners and admins can remove members, only owners can remove owners, and the last owner cannot be removed. Within a second the person loses access, also on open sockets.',
    `memberRemove(
    "The workspace."
    workspaceId: ID!
    "The person; your own id to leave."
    userId: ID!
  ): MemberRemovePayload!`,
  ),
  entry(
    'Invites people to a workspace; for its owners and admins, with the scope `admin`.',
    `invitationCreate(
    "The workspace."
    workspaceId: ID!
    "The invitation. Default: a code for any person, with the role \`member\`, for seven days."
    input: InvitationCreateInput
  ${REPEATED}
  ): InvitationCreatePayload!`,
  ),
  entry(
    'Deletes a pending invitation: its code no longer works. For owners and admins of the workspace, with the scope `admin`.',
    `invitationDelete(
    "The workspace."
    workspaceId: ID!
    "The invitation."
    id: ID!
  ): DonePayload!`,
  ),
  entry(
    'Adds a member of the workspace to a private project; for owners and admins of the workspace, with the scope `admin`.',
    `privateProjectMemberAdd(${PRIVATE_PROJECT_MEMBER}): PrivateProjectMemberPayload!`,
  ),
  entry(
    'Removes a person from a private project; for owners and admins of the workspace, with the scope `admin`. The person stays in the workspace.',
    `privateProjectMemberRemove(${PRIVATE_PROJECT_MEMBER}): DonePayload!`,
  ),
];
