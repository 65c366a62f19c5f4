import type { Role, Scope } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { webhookAccessRules } from './webhook-access-rules.ts';

/** A caller and its credential. */
export interface TestCaller {
  /** The role in workspace A. Null: no member. No caller is a member of workspace B. */
  readonly role: Role | null;
  readonly scopes: readonly Scope[];
  /** True: the credential is for one workspace: A, or an own workspace of a caller who is no member. */
  readonly isRestricted: boolean;
}

/** The response that a caller must get. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
}

/** The caller's role in the workspace the request is about; null when it does not exist for them. */
export type RoleHere = Role | null;

export interface ApiOperation {
  readonly scope: Scope | 'none';
  /** The path for a workspace. */
  readonly path: (ids: WorkspaceIds) => string;
  readonly body?: (ids: WorkspaceIds) => object;
  /** The expected response when the credential has the scope. */
  readonly answer: (role: RoleHere, caller: TestCaller) => Expected;
}

/** The ids of a workspace and its content, for paths and bodies. */
export interface WorkspaceIds {
  readonly workspaceId: string;
  readonly urlKey: string;
  readonly ownerId: string;
  /** A new one for requests that delete it. */
  readonly invitationId: string;
  /** One of the owner's API keys. */
  readonly keyId: string;
  /** A private project whose only member is the owner. */
  readonly projectId: string;
  /** A webhook endpoint with a delivery; a new one for requests that delete or rotate. */
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly unique: string;
}

/** Ids of the demo workspace. Its content ids do not exist, except the given ones. */
export function idsIn(testSystem: TestSystem, there: Partial<WorkspaceIds> = {}): WorkspaceIds {
  return {
    workspaceId: testSystem.workspaceId,
    urlKey: 'demo',
    ownerId: testSystem.userId,
    invitationId: randomUUID(),
    keyId: randomUUID(),
    projectId: randomUUID(),
    endpointId: randomUUID(),
    deliveryId: randomUUID(),
    unique: randomUUID(),
    ...there,
  };
}

const ok =
  (status = 200) =>
  (): Expected => ({ status });
const NOT_FOUND: Expected = { status: 404, code: 'not_found' };
const FORBIDDEN: Expected = { status: 403, code: 'forbidden' };

/** Members see it. For others it does not exist. */
const forMembers = (role: RoleHere): Expected => (role === null ? NOT_FOUND : { status: 200 });
const forAdmins =
  (status: number) =>
  (role: RoleHere): Expected => {
    if (role === null) return NOT_FOUND;
    return role === 'owner' || role === 'admin' ? { status } : FORBIDDEN;
  };
const forOwners =
  (expected: Expected) =>
  (role: RoleHere): Expected => {
    if (role === null) return NOT_FOUND;
    return role === 'owner' ? expected : FORBIDDEN;
  };
/** A credential for one workspace cannot create workspaces, memberships or keys. */
const unrestricted =
  (expected: Expected) =>
  (_standing: RoleHere, { isRestricted }: TestCaller): Expected =>
    isRestricted ? FORBIDDEN : expected;

const workspace = ({ workspaceId }: WorkspaceIds): string => `/api/workspaces/${workspaceId}`;

const project = (ids: WorkspaceIds): string => `${workspace(ids)}/private-projects/${ids.projectId}`;

const HOME = `query Home($workspaceId: ID!, $urlKey: String!) {
  workspace(id: $workspaceId) { id name projects { nodes { name } } labels { nodes { name } } members { nodes { id } } }
  workspaceByUrlKey(urlKey: $urlKey) { id name }
}`;

/** Every operation of the description: its scope, its path and body for a workspace, and the expected response. */
export const ACCESS_RULES: Readonly<Record<string, ApiOperation>> = {
  health: { scope: 'none', path: () => '/health', answer: ok() },
  ready: { scope: 'none', path: () => '/ready', answer: ok() },
  apiResource: { scope: 'none', path: () => '/.well-known/oauth-protected-resource', answer: ok() },
  openapi: { scope: 'none', path: () => '/openapi.json', answer: ok() },
  graphqlSchema: { scope: 'none', path: () => '/graphql/schema.graphql', answer: ok() },
  graphql: {
    scope: 'read',
    path: () => '/graphql',
    body: ({ workspaceId, urlKey }) => ({ query: HOME, variables: { workspaceId, urlKey } }),
    // What does not exist for the caller is null.
    answer: ok(),
  },
  listWorkspaces: { scope: 'read', path: () => '/api/workspaces', answer: ok() },
  getWorkspaceBySlug: { scope: 'read', path: ({ urlKey }) => `/api/workspaces/by-slug/${urlKey}`, answer: forMembers },
  createWorkspace: {
    scope: 'admin',
    path: () => '/api/workspaces',
    body: ({ unique }) => ({ name: 'Another', urlKey: `another-${unique}` }),
    answer: unrestricted({ status: 201 }),
  },
  deleteWorkspace: {
    scope: 'admin',
    // Not its urlKey, because the other requests need the workspace.
    path: (ids) => `${workspace(ids)}/deletion`,
    body: () => ({ urlKey: 'another' }),
    answer: forOwners({ status: 400, code: 'validation_failed' }),
  },
  restoreWorkspace: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/restoration`,
    answer: forOwners({ status: 200 }),
  },
  joinWorkspace: {
    scope: 'admin',
    path: () => '/api/workspaces/join',
    body: ({ unique }) => ({ code: `no-code-${unique}` }),
    answer: unrestricted(NOT_FOUND),
  },
  listMembers: { scope: 'read', path: (ids) => `${workspace(ids)}/members`, answer: forMembers },
  removeMember: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/members/${ids.ownerId}`,
    // The request removes the owner, which others may not, and which the last owner cannot.
    answer: (role) => {
      if (role === null) return NOT_FOUND;
      return role === 'owner' ? { status: 409, code: 'last_owner' } : FORBIDDEN;
    },
  },
  listInvitations: { scope: 'read', path: (ids) => `${workspace(ids)}/invitations`, answer: forAdmins(200) },
  createInvitation: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/invitations`,
    body: () => ({}),
    answer: forAdmins(201),
  },
  deleteInvitation: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/invitations/${ids.invitationId}`,
    answer: forAdmins(200),
  },
  listPrivateProjects: { scope: 'read', path: (ids) => `${workspace(ids)}/private-projects`, answer: forAdmins(200) },
  listPrivateProjectMembers: { scope: 'read', path: (ids) => `${project(ids)}/members`, answer: forAdmins(200) },
  addPrivateProjectMember: {
    scope: 'admin',
    path: (ids) => `${project(ids)}/members`,
    body: ({ ownerId }) => ({ userId: ownerId }),
    answer: forAdmins(200),
  },
  removePrivateProjectMember: {
    scope: 'admin',
    path: (ids) => `${project(ids)}/members/${ids.unique}`,
    // The project has no member with this id.
    answer: (role) => (role === 'owner' || role === 'admin' ? NOT_FOUND : forAdmins(200)(role)),
  },
  listWorkspaceAccess: { scope: 'admin', path: (ids) => `${workspace(ids)}/access`, answer: forAdmins(200) },
  listSecurityEvents: { scope: 'admin', path: (ids) => `${workspace(ids)}/security-events`, answer: forAdmins(200) },
  listWorkspaceApps: { scope: 'admin', path: (ids) => `${workspace(ids)}/apps`, answer: forAdmins(200) },
  endWorkspaceApp: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/apps/${ids.unique}`,
    // The workspace has no such app; only owners may end one.
    answer: (role) => (role === 'owner' ? NOT_FOUND : role === null ? NOT_FOUND : FORBIDDEN),
  },
  getWorkspaceSecurity: { scope: 'read', path: (ids) => `${workspace(ids)}/security`, answer: forMembers },
  updateWorkspaceSecurity: {
    scope: 'admin',
    path: (ids) => `${workspace(ids)}/security`,
    body: () => ({ requireSecondFactor: false }),
    answer: forOwners({ status: 200 }),
  },
  listApiKeys: { scope: 'admin', path: () => '/api/auth/keys', answer: unrestricted({ status: 200 }) },
  createApiKey: {
    scope: 'admin',
    path: () => '/api/auth/keys',
    body: () => ({ label: 'another' }),
    answer: unrestricted({ status: 201 }),
  },
  revokeApiKey: {
    scope: 'admin',
    path: ({ keyId }) => `/api/auth/keys/${keyId}`,
    // The key belongs to another person.
    answer: unrestricted(NOT_FOUND),
  },
  ...webhookAccessRules(forAdmins),
  syncBootstrap: {
    scope: 'read',
    path: ({ workspaceId }) => `/sync/bootstrap?syncGroups=${workspaceId}`,
    answer: ok(),
  },
  syncBootstrapPost: {
    scope: 'read',
    path: () => '/sync/bootstrap',
    body: ({ workspaceId }) => ({ syncGroups: workspaceId }),
    answer: ok(),
  },
  syncBatch: {
    scope: 'read',
    path: () => '/sync/batch',
    body: ({ workspaceId }) => ({ requests: [{ modelName: 'Label', groupId: workspaceId }] }),
    answer: ok(),
  },
  syncDeltas: { scope: 'read', path: () => '/sync/deltas', answer: ok() },
  syncMutate: {
    scope: 'write',
    path: () => '/sync/mutate',
    body: ({ workspaceId, unique }) => ({
      batchId: unique,
      transactions: [
        {
          clientTxId: unique,
          clientId: 'walls',
          modelName: 'Label',
          modelId: unique,
          action: 'INSERT',
          payload: { workspaceId, name: `Label ${unique}` },
        },
      ],
    }),
    answer: ok(),
  },
  // A request without an upgrade gets 426; other tests cover sockets.
  syncSocket: { scope: 'read', path: () => '/sync/ws', answer: ok(426) },
};

const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
};

/** The order of the checks: scope, then membership, then role. */
export function expectedOf(operation: ApiOperation, caller: TestCaller, isForeign: boolean): Expected {
  const { scope, answer } = operation;
  const role = isForeign ? null : caller.role;
  if (scope === 'none' || answer(role, caller).status === 426) return answer(role, caller);
  const isGranted = caller.scopes.some((held) => INCLUDES[scope].includes(held));
  return isGranted ? answer(role, caller) : { status: 403, code: 'insufficient_scope' };
}

/** True when a write through sync succeeds: guests cannot create labels, and callers who are no members cannot write. */
export function mayWrite({ role, scopes }: TestCaller, isForeign: boolean): boolean {
  return !isForeign && role !== null && role !== 'guest' && scopes.includes('write');
}
