import {
  accessApi,
  apiKeyApi,
  LIMITS,
  memberApi,
  privateProjectApi,
  UUID_PATTERN,
  workspaceApi,
  type Contract,
  type JsonSchema,
} from '@wts/contracts';
import { block, entriesOf, ERROR, field, type Entries } from '../sdl.ts';

/*
 * What the workspace and auth services decide: workspaces, invitations, members and API keys. The same operations exist in REST, and need the
 * same scope there. The fields and their descriptions are those of the contracts.
 */

interface ObjectSchema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

interface Property {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const SCALARS: Readonly<Record<string, string>> = { string: 'String', integer: 'Int', boolean: 'Boolean' };

/** Null for an object, which GraphQL does not have. */
function typeOf({ type, format, pattern, enum: values }: Property): string | null {
  if (values !== undefined) return values === apiKeyApi.KEY_PERMISSIONS ? 'ApiKeyPermissions' : 'WorkspaceMemberRole';
  if (format === 'date-time') return 'DateTime';
  if (pattern === UUID_PATTERN) return 'ID';
  return SCALARS[[type].flat()[0] ?? ''] ?? null;
}

/** Other descriptions, where those of REST name values as REST spells them. */
type Docs = Readonly<Record<string, string>>;

/** The fields of a reply. */
function fieldsOf({ properties }: ObjectSchema, docs: Docs = {}): Entries {
  const known = Object.entries(properties).filter(([, property]) => typeOf(property) !== null);
  return entriesOf(known, ([name, property]) => {
    const isNullable = [property.type].flat().includes('null');
    return [`${name}: ${typeOf(property)}${isNullable ? '' : '!'}`, docs[name] ?? property.description ?? ''];
  });
}

/** The fields of an input, with their bounds and defaults. */
function inputsOf(schema: unknown, docs: Docs = {}): Entries {
  const { properties, required = [] } = schema as ObjectSchema;
  return entriesOf(Object.entries(properties), ([name, property]) => {
    const { minLength, maxLength, minimum, maximum, default: initial } = property;
    const doc = [
      docs[name] ?? property.description ?? '',
      ...(minLength === undefined ? [] : [`${minLength} to ${maxLength} characters.`]),
      ...(minimum === undefined ? [] : [`${minimum} to ${maximum}.`]),
      ...(initial === undefined ? [] : [`Default: \`${initial}\`.`]),
    ];
    return [`${name}: ${typeOf(property)}${required.includes(name) ? '!' : ''}`, doc.join(' ')];
  });
}

/** The schema of a property of a reply, or of the items of a list. */
function replyOf({ reply }: Pick<Contract, 'reply'>, name: string): ObjectSchema {
  const { properties = {} } = (reply as { schema: JsonSchema }).schema as { properties?: Record<string, unknown> };
  const found = properties[name] as { readonly items?: ObjectSchema } & ObjectSchema;
  return found.items ?? found;
}

/** A type with the fields of a schema, and more. */
function objectOf(name: string, schema: ObjectSchema, more: Entries = {}, docs: Docs = {}): string {
  return block(schema.description ?? '', `type ${name}`, { ...fieldsOf(schema, docs), ...more });
}

function payload(name: string, doc: string, entries: Entries = {}): string {
  return block(doc, `type ${name}`, { 'success: Boolean!': 'Whether the change was accepted.', ...entries, ...ERROR });
}

function page(type: string, of: string, key: string): string {
  return block(`One page of ${of}.`, `type ${type}Page`, {
    [`nodes: [${type}!]!`]: `Ascending by \`${key}\`.`,
    'hasMore: Boolean!': `True when there is another page: pass the \`${key}\` of the last one as \`after\`.`,
  });
}

const invitation = replyOf(memberApi.listInvitations, 'invitations');
const project = replyOf(privateProjectApi.listPrivateProjects, 'projects');
const projectMember = replyOf(privateProjectApi.listPrivateProjectMembers, 'members');
const ofRole = { role: 'The role of the person who redeems it: `admin`, `member` or `guest`.' };

export const WORKSPACE_TYPE_DEFS: string = [
  block('Why a change was refused.', 'type MutationError', {
    'code: ErrorCode!': 'For programs.',
    'message: String!': 'For people: what is wrong and what to do. It names the field at fault.',
  }),
  block('What an API key may do.', 'enum ApiKeyPermissions', {
    READ_ONLY: 'Read only: the scope `read`.',
    FULL_ACCESS: 'Everything: the scopes `read`, `write` and `admin`.',
  }),
  objectOf(
    'ApiKey',
    apiKeyApi.keySchema,
    { 'user: User': 'The owner of the key.', 'workspace: Workspace': 'The only workspace that the key has access to.' },
    { permissions: 'What it may do.' },
  ),
  objectOf(
    'Invitation',
    invitation,
    { 'workspace: Workspace': 'The workspace that it is for.', 'creator: User': 'The person who invited.' },
    ofRole,
  ),
  objectOf('OpenInvitation', replyOf(memberApi.removeMember, 'openInvitations')),
  objectOf('PrivateProject', project, { 'lead: User': 'The lead.', 'creator: User': 'The person who created it.' }),
  objectOf('PrivateProjectMember', projectMember, { 'user: User': 'The person.' }, { role: 'Role in the workspace.' }),
  objectOf(
    'SecurityEvent',
    replyOf(accessApi.listSecurityEvents, 'events'),
    { 'user: User': 'The member it happened to.' },
    {
      actor: 'Who did it: person, operator of this service, or system, which is the service itself.',
      kind: 'What happened, for programs, such as sign-in. New kinds may be added.',
    },
  ),
  block('One page of the security events.', 'type SecurityEventPage', {
    'nodes: [SecurityEvent!]!': 'The events, the newest first.',
    'next: String': 'Send it as `before` for the next page; null after the last one.',
  }),
  page('PrivateProject', 'private projects', 'id'),
  page('PrivateProjectMember', 'the members of a private project', 'userId'),
  payload('ApiKeyCreatePayload', 'The new API key, with its token.', {
    'apiKey: ApiKey': 'The key.',
    'token: String':
      'Send it as `Authorization: Bearer <token>`. Only this answer shows it: store it now, and keep it secret.',
  }),
  payload('DonePayload', 'The result of a change that has no record.'),
  payload('WorkspaceAccessPayload', 'The workspace that was created or joined.', {
    'workspace: Workspace': 'The workspace.',
    'role: WorkspaceMemberRole': 'Your role in it.',
  }),
  payload('InvitationCreatePayload', 'The new invitation, with its code.', {
    'invitation: Invitation': 'The invitation.',
    'code: String': 'Give it to the people you invite. Only this answer shows it.',
  }),
  payload('MemberRemovePayload', 'The result of a removal of a member.', {
    'openInvitations: [OpenInvitation!]!':
      'Invitations that people with their codes can still use, including another account of the removed person.',
  }),
  payload('PrivateProjectMemberPayload', 'The new member of a private project.', {
    'member: PrivateProjectMember': 'The member.',
  }),
  block(
    'A new workspace. You become its owner.',
    'input WorkspaceCreateInput',
    inputsOf(workspaceApi.createWorkspace.body),
  ),
  block('A new invitation.', 'input InvitationCreateInput', inputsOf(memberApi.createInvitation.body, ofRole)),
].join('\n\n');

const WORKSPACE: Entries = { 'workspaceId: ID!': 'The workspace.' };
const PROJECT: Entries = { ...WORKSPACE, 'projectId: ID!': 'The private project.' };
const PERSON_IN_PROJECT: Entries = { ...PROJECT, 'userId: ID!': 'The person.' };
const REPEATED: Entries = {
  'clientTxId: String':
    'Your name for this change, at most 128 characters. Sent again within a day, it gets the first answer and is not applied twice.',
};
const LIMIT: Entries = {
  'limit: Int': `Size of the page: 1 to ${LIMITS.listPageMax}. Default: ${LIMITS.listPageDefault}.`,
};

export const WORKSPACE_QUERIES: Entries = {
  [field('apiKeys: [ApiKey!]!', {
    'workspaceId: ID': 'Lists all keys that are limited to this workspace, for its owners.',
  })]: 'Your API keys that are not revoked, newest first; needs the scope `admin`.',
  [field('invitations: [Invitation!]!', WORKSPACE)]:
    'The pending invitations of a workspace, newest first; for its owners and admins.',
  [field('securityEvents: SecurityEventPage!', {
    ...WORKSPACE,
    'before: String': 'The `next` of the page before.',
    ...LIMIT,
  })]:
    'What happened with the access to a workspace, the newest first; for its owners and admins, with the scope `admin`.',
  [field('privateProjects: PrivateProjectPage!', {
    ...WORKSPACE,
    'after: ID': 'The `id` of the last project of the page before.',
    ...LIMIT,
  })]:
    'The private projects of a workspace, for its owners and admins, also when they are not in these projects. Names and people, never the content.',
  [field('privateProjectMembers: PrivateProjectMemberPage!', {
    ...PROJECT,
    'after: ID': 'The `userId` of the last member of the page before.',
    ...LIMIT,
  })]: 'The members of a private project, for owners and admins of the workspace.',
};

/** Each needs the scope `admin`, as in REST. */
export const WORKSPACE_MUTATIONS: Entries = {
  [field('apiKeyCreate: ApiKeyCreatePayload!', {
    ...inputsOf(apiKeyApi.createApiKey.body),
    'permissions: ApiKeyPermissions! = FULL_ACCESS': 'What it may do.',
    'expiresAt: DateTime': 'When it expires. Default: never.',
    'workspaceId: ID': 'Limits the key to this workspace. Default: all workspaces that you are in.',
    ...REPEATED,
  })]:
    'Creates an API key; needs the scope `admin`. When you use an expiring key for this request, the new key expires with it.',
  [field('apiKeyRevoke: DonePayload!', {
    'id: ID!': 'The id of the key, not its token.',
    'includeMade: Boolean = false': 'Also revokes all keys that were made with it. Use this after a leak.',
  })]:
    'Revokes your own API key, or one that is limited to a workspace you own; needs the scope `admin`. It stops working everywhere within a second, and its open sockets close.',
  [field('workspaceCreate: WorkspaceAccessPayload!', {
    'input: WorkspaceCreateInput!': 'The new workspace.',
    ...REPEATED,
  })]: 'Creates a workspace and makes you its owner; needs the scope `admin`.',
  [field('workspaceJoin: WorkspaceAccessPayload!', { 'code: String!': 'The code that you were given.', ...REPEATED })]:
    'Joins a workspace with an invitation code; needs the scope `admin`. When you are a member already, nothing changes.',
  [field('memberRemove: MemberRemovePayload!', { ...WORKSPACE, 'userId: ID!': 'The person; your own id to leave.' })]:
    'Removes a member, or lets you leave; needs the scope `admin`. Owners and admins can remove members, only owners can remove owners, and the last owner cannot be removed. Within a second the person loses access, also on open sockets.',
  [field('invitationCreate: InvitationCreatePayload!', {
    ...WORKSPACE,
    'input: InvitationCreateInput':
      'The invitation. Default: a code for any person, with the role `member`, for seven days.',
    ...REPEATED,
  })]: 'Invites people to a workspace; for its owners and admins, with the scope `admin`.',
  [field('invitationDelete: DonePayload!', { ...WORKSPACE, 'id: ID!': 'The invitation.' })]:
    'Deletes a pending invitation: its code no longer works. For owners and admins of the workspace, with the scope `admin`.',
  [field('privateProjectMemberAdd: PrivateProjectMemberPayload!', PERSON_IN_PROJECT)]:
    'Adds a member of the workspace to a private project; for owners and admins of the workspace, with the scope `admin`.',
  [field('privateProjectMemberRemove: DonePayload!', PERSON_IN_PROJECT)]:
    'Removes a person from a private project; for owners and admins of the workspace, with the scope `admin`. The person stays in the workspace.',
};
