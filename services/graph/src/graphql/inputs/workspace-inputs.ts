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
import { block, entry, ERROR, field } from './sdl.ts';

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
function fieldsOf({ properties }: ObjectSchema, docs: Docs = {}): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const type = typeOf(property);
    const isNullable = [property.type].flat().includes('null');
    const doc = docs[name] ?? property.description ?? '';
    return type === null ? [] : [entry(doc, `${name}: ${type}${isNullable ? '' : '!'}`)];
  });
}

/** The fields of an input, with their bounds and defaults. */
function inputsOf({ properties, required = [] }: ObjectSchema, docs: Docs = {}): string[] {
  return Object.entries(properties).map(([name, property]) => {
    const { minLength, maxLength, minimum, maximum, default: initial } = property;
    const doc = [
      docs[name] ?? property.description ?? '',
      ...(minLength === undefined ? [] : [`${minLength} to ${maxLength} characters.`]),
      ...(minimum === undefined ? [] : [`${minimum} to ${maximum}.`]),
      ...(initial === undefined ? [] : [`Default: \`${initial}\`.`]),
    ];
    return entry(doc.join(' '), `${name}: ${typeOf(property)}${required.includes(name) ? '!' : ''}`);
  });
}

/** The schema of a property of a reply, or of the items of a list. */
function replyOf({ reply }: Pick<Contract, 'reply'>, name: string): ObjectSchema {
  const { properties = {} } = (reply as { schema: JsonSchema }).schema as { properties?: Record<string, unknown> };
  const found = properties[name] as { readonly items?: ObjectSchema } & ObjectSchema;
  return found.items ?? found;
}

/** A type with the fields of a schema. */
function objectOf(name: string, schema: ObjectSchema, { docs = {}, more = [] }: { docs?: Docs; more?: string[] } = {}) {
  return block(schema.description ?? '', `type ${name}`, [...fieldsOf(schema, docs), ...more]);
}

function payload(name: string, doc: string, entries: readonly string[] = []): string {
  const success = entry('Whether the change was accepted.', 'success: Boolean!');
  return block(doc, `type ${name}`, [success, ...entries, ERROR]);
}

function page(type: string, of: string, key: string): string {
  return block(`One page of ${of}.`, `type ${type}Page`, [
    entry(`Ascending by \`${key}\`.`, `nodes: [${type}!]!`),
    entry(`True when there is another page: pass the \`${key}\` of the last one as \`after\`.`, 'hasMore: Boolean!'),
  ]);
}

const invitation = replyOf(memberApi.listInvitations, 'invitations');
const project = replyOf(privateProjectApi.listPrivateProjects, 'projects');
const projectMember = replyOf(privateProjectApi.listPrivateProjectMembers, 'members');
const ofRole = { role: 'The role of the person who redeems it: `admin`, `member` or `guest`.' };

export const WORKSPACE_TYPE_DEFS: string = [
  block('Why a change was refused.', 'type MutationError', [
    entry('For programs.', 'code: ErrorCode!'),
    entry('For people: what is wrong and what to do. It names the field at fault.', 'message: String!'),
  ]),
  block('What an API key may do.', 'enum ApiKeyPermissions', [
    entry('Read only: the scope `read`.', 'READ_ONLY'),
    entry('Everything: the scopes `read`, `write` and `admin`.', 'FULL_ACCESS'),
  ]),
  objectOf('ApiKey', apiKeyApi.keySchema, {
    docs: { permissions: 'What it may do.' },
    more: [
      entry('The owner of the key.', 'user: User'),
      entry('The only workspace that the key has access to.', 'workspace: Workspace'),
    ],
  }),
  objectOf('Invitation', invitation, {
    docs: ofRole,
    more: [
      entry('The workspace that it is for.', 'workspace: Workspace'),
      entry('The person who invited.', 'creator: User'),
    ],
  }),
  objectOf('OpenInvitation', replyOf(memberApi.removeMember, 'openInvitations')),
  objectOf('PrivateProject', project, {
    more: [entry('The lead.', 'lead: User'), entry('The person who created it.', 'creator: User')],
  }),
  objectOf('PrivateProjectMember', projectMember, {
    docs: { role: 'Role in the workspace.' },
    more: [entry('The person.', 'user: User')],
  }),
  objectOf('SecurityEvent', replyOf(accessApi.listSecurityEvents, 'events'), {
    docs: {
      actor: 'Who did it: person, operator of this service, or system, which is the service itself.',
      kind: 'What happened, for programs, such as sign-in. New kinds may be added.',
    },
    more: [entry('The member it happened to.', 'user: User')],
  }),
  block('One page of the security events.', 'type SecurityEventPage', [
    entry('The events, the newest first.', 'nodes: [SecurityEvent!]!'),
    entry('Send it as `before` for the next page; null after the last one.', 'next: String'),
  ]),
  page('PrivateProject', 'private projects', 'id'),
  page('PrivateProjectMember', 'the members of a private project', 'userId'),
  payload('ApiKeyCreatePayload', 'The new API key, with its token.', [
    entry('The key.', 'apiKey: ApiKey'),
    entry(
      'Send it as `Authorization: Bearer <token>`. Only this answer shows it: store it now, and keep it secret.',
      'token: String',
    ),
  ]),
  payload('DonePayload', 'The result of a change that has no record.'),
  payload('WorkspaceAccessPayload', 'The workspace that was created or joined.', [
    entry('The workspace.', 'workspace: Workspace'),
    entry('Your role in it.', 'role: WorkspaceMemberRole'),
  ]),
  payload('InvitationCreatePayload', 'The new invitation, with its code.', [
    entry('The invitation.', 'invitation: Invitation'),
    entry('Give it to the people you invite. Only this answer shows it.', 'code: String'),
  ]),
  payload('MemberRemovePayload', 'The result of a removal of a member.', [
    entry(
      'Invitations that people with their codes can still use, including another account of the removed person.',
      'openInvitations: [OpenInvitation!]!',
    ),
  ]),
  payload('PrivateProjectMemberPayload', 'The new member of a private project.', [
    entry('The member.', 'member: PrivateProjectMember'),
  ]),
  block(
    'A new workspace. You become its owner.',
    'input WorkspaceCreateInput',
    inputsOf(workspaceApi.createWorkspace.body as unknown as ObjectSchema),
  ),
  block(
    'A new invitation.',
    'input InvitationCreateInput',
    inputsOf(memberApi.createInvitation.body as unknown as ObjectSchema, ofRole),
  ),
].join('\n\n');

const WORKSPACE = entry('The workspace.', 'workspaceId: ID!');
const PERSON_IN_PROJECT = [
  WORKSPACE,
  entry('The private project.', 'projectId: ID!'),
  entry('The person.', 'userId: ID!'),
];
const REPEATED = entry(
  'Your name for this change, at most 128 characters. Sent again within a day, it gets the first answer and is not applied twice.',
  'clientTxId: String',
);

function pageArguments(last: string): string[] {
  return [
    entry(`The ${last} of the page before.`, 'after: ID'),
    entry(`Size of the page: 1 to ${LIMITS.listPageMax}. Default: ${LIMITS.listPageDefault}.`, 'limit: Int'),
  ];
}

export const WORKSPACE_QUERIES: readonly string[] = [
  field('apiKeys: [ApiKey!]!', 'Your API keys that are not revoked, newest first; needs the scope `admin`.', [
    entry('Lists all keys that are limited to this workspace, for its owners.', 'workspaceId: ID'),
  ]),
  field(
    'invitations: [Invitation!]!',
    'The pending invitations of a workspace, newest first; for its owners and admins.',
    [WORKSPACE],
  ),
  field(
    'securityEvents: SecurityEventPage!',
    'What happened with the access to a workspace, the newest first; for its owners and admins, with the scope `admin`.',
    [
      WORKSPACE,
      entry('The `next` of the page before.', 'before: String'),
      entry(`Size of the page: 1 to ${LIMITS.listPageMax}. Default: ${LIMITS.listPageDefault}.`, 'limit: Int'),
    ],
  ),
  field(
    'privateProjects: PrivateProjectPage!',
    'The private projects of a workspace, for its owners and admins, also when they are not in these projects. Names and people, never the content.',
    [WORKSPACE, ...pageArguments('`id` of the last project')],
  ),
  field(
    'privateProjectMembers: PrivateProjectMemberPage!',
    'The members of a private project, for owners and admins of the workspace.',
    [WORKSPACE, entry('The private project.', 'projectId: ID!'), ...pageArguments('`userId` of the last member')],
  ),
];

/** Each needs the scope `admin`, as in REST. */
export const WORKSPACE_MUTATIONS: readonly string[] = [
  field(
    'apiKeyCreate: ApiKeyCreatePayload!',
    'Creates an API key; needs the scope `admin`. When you use an expiring key for this request, the new key expires with it.',
    [
      ...inputsOf(apiKeyApi.createApiKey.body as unknown as ObjectSchema),
      entry('What it may do.', 'permissions: ApiKeyPermissions! = FULL_ACCESS'),
      entry('When it expires. Default: never.', 'expiresAt: DateTime'),
      entry('Limits the key to this workspace. Default: all workspaces that you are in.', 'workspaceId: ID'),
      REPEATED,
    ],
  ),
  field(
    'apiKeyRevoke: DonePayload!',
    'Revokes your own API key, or one that is limited to a workspace you own; needs the scope `admin`. It stops working everywhere within a second, and its open sockets close.',
    [
      entry('The id of the key, not its token.', 'id: ID!'),
      entry('Also revokes all keys that were made with it. Use this after a leak.', 'includeMade: Boolean = false'),
    ],
  ),
  field(
    'workspaceCreate: WorkspaceAccessPayload!',
    'Creates a workspace and makes you its owner; needs the scope `admin`.',
    [entry('The new workspace.', 'input: WorkspaceCreateInput!'), REPEATED],
  ),
  field(
    'workspaceJoin: WorkspaceAccessPayload!',
    'Joins a workspace with an invitation code; needs the scope `admin`. When you are a member already, nothing changes.',
    [entry('The code that you were given.', 'code: String!'), REPEATED],
  ),
  field(
    'memberRemove: MemberRemovePayload!',
    'Removes a member, or lets you leave; needs the scope `admin`. Owners and admins can remove members, only owners can remove owners, and the last owner cannot be removed. Within a second the person loses access, also on open sockets.',
    [WORKSPACE, entry('The person; your own id to leave.', 'userId: ID!')],
  ),
  field(
    'invitationCreate: InvitationCreatePayload!',
    'Invites people to a workspace; for its owners and admins, with the scope `admin`.',
    [
      WORKSPACE,
      entry(
        'The invitation. Default: a code for any person, with the role `member`, for seven days.',
        'input: InvitationCreateInput',
      ),
      REPEATED,
    ],
  ),
  field(
    'invitationDelete: DonePayload!',
    'Deletes a pending invitation: its code no longer works. For owners and admins of the workspace, with the scope `admin`.',
    [WORKSPACE, entry('The invitation.', 'id: ID!')],
  ),
  field(
    'privateProjectMemberAdd: PrivateProjectMemberPayload!',
    'Adds a member of the workspace to a private project; for owners and admins of the workspace, with the scope `admin`.',
    PERSON_IN_PROJECT,
  ),
  field(
    'privateProjectMemberRemove: DonePayload!',
    'Removes a person from a private project; for owners and admins of the workspace, with the scope `admin`. The person stays in the workspace.',
    PERSON_IN_PROJECT,
  ),
];
