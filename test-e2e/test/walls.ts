import type { Role, Scope } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';

/** Who calls, and with what. */
export interface Caller {
  /** In workspace A; nobody of them is in workspace B. Null: in neither. */
  readonly role: Role | null;
  readonly scopes: readonly Scope[];
  /** The credential is for one workspace: A, or, of an outsider, one of their own. */
  readonly isRestricted: boolean;
}

/** What a caller must be told about a workspace: the status and code, and whether they may read anything of it at all. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
}

/** The caller's role in the workspace the request is about; null when it does not exist for them. */
type Standing = Role | null;

interface Operation {
  readonly scope: Scope | 'none';
  /** The path without its origin, filled for a workspace. */
  readonly path: (place: Place) => string;
  readonly body?: (place: Place) => object;
  /** Once the scope is there. */
  readonly answer: (standing: Standing, caller: Caller) => Expected;
}

/** A workspace and what is in it, as the paths name it. */
export interface Place {
  readonly workspaceId: string;
  readonly urlKey: string;
  readonly ownerId: string;
  /** A new invitation for each request, since one may delete it. */
  readonly invitationId: string;
  /** Of the owner's API keys. */
  readonly keyId: string;
  /** A private project, with the owner inside. */
  readonly projectId: string;
  readonly unique: string;
}

/** A place in the demo workspace with what is not there, unless it is named. */
export function placeIn(testSystem: TestSystem, there: Partial<Place> = {}): Place {
  return {
    workspaceId: testSystem.workspaceId,
    urlKey: 'demo',
    ownerId: testSystem.userId,
    invitationId: randomUUID(),
    keyId: randomUUID(),
    projectId: randomUUID(),
    unique: randomUUID(),
    ...there,
  };
}

const ok =
  (status = 200) =>
  (): Expected => ({ status });
const NOT_FOUND: Expected = { status: 404, code: 'not_found' };
const FORBIDDEN: Expected = { status: 403, code: 'forbidden' };

/** Members see it; nobody else learns that it is there. */
const forMembers = (standing: Standing): Expected => (standing === null ? NOT_FOUND : { status: 200 });
const forOffice =
  (status: number) =>
  (standing: Standing): Expected => {
    if (standing === null) return NOT_FOUND;
    return standing === 'owner' || standing === 'admin' ? { status } : FORBIDDEN;
  };
/** A credential for one workspace makes neither workspaces, memberships nor keys. */
const unrestricted =
  (expected: Expected) =>
  (_standing: Standing, { isRestricted }: Caller): Expected =>
    isRestricted ? FORBIDDEN : expected;

const workspace = ({ workspaceId }: Place): string => `/api/workspaces/${workspaceId}`;

const project = (place: Place): string => `${workspace(place)}/private-projects/${place.projectId}`;

/** Every operation of the description: the scope it needs, how to ask it about a workspace, and what the walls say. */
export const WALLS: Readonly<Record<string, Operation>> = {
  health: { scope: 'none', path: () => '/health', answer: ok() },
  ready: { scope: 'none', path: () => '/ready', answer: ok() },
  openapi: { scope: 'none', path: () => '/openapi.json', answer: ok() },
  listWorkspaces: { scope: 'read', path: () => '/api/workspaces', answer: ok() },
  getWorkspaceBySlug: {
    scope: 'read',
    path: ({ urlKey }) => `/api/workspaces/by-slug/${urlKey}`,
    answer: forMembers,
  },
  createWorkspace: {
    scope: 'admin',
    path: () => '/api/workspaces',
    body: ({ unique }) => ({ name: 'Another', urlKey: `another-${unique}` }),
    answer: unrestricted({ status: 201 }),
  },
  joinWorkspace: {
    scope: 'admin',
    path: () => '/api/workspaces/join',
    body: ({ unique }) => ({ code: `no-code-${unique}` }),
    answer: unrestricted(NOT_FOUND),
  },
  listMembers: { scope: 'read', path: (place) => `${workspace(place)}/members`, answer: forMembers },
  removeMember: {
    scope: 'admin',
    path: (place) => `${workspace(place)}/members/${place.ownerId}`,
    // The owner is asked to be removed, which nobody may and which the last owner cannot do.
    answer: (standing) => {
      if (standing === null) return NOT_FOUND;
      return standing === 'owner' ? { status: 409, code: 'last_owner' } : FORBIDDEN;
    },
  },
  listInvitations: { scope: 'read', path: (place) => `${workspace(place)}/invitations`, answer: forOffice(200) },
  createInvitation: {
    scope: 'admin',
    path: (place) => `${workspace(place)}/invitations`,
    body: () => ({}),
    answer: forOffice(201),
  },
  deleteInvitation: {
    scope: 'admin',
    path: (place) => `${workspace(place)}/invitations/${place.invitationId}`,
    answer: forOffice(200),
  },
  listPrivateProjects: {
    scope: 'read',
    path: (place) => `${workspace(place)}/private-projects`,
    answer: forOffice(200),
  },
  listPrivateProjectMembers: { scope: 'read', path: (place) => `${project(place)}/members`, answer: forOffice(200) },
  addPrivateProjectMember: {
    scope: 'admin',
    path: (place) => `${project(place)}/members`,
    body: ({ ownerId }) => ({ userId: ownerId }),
    answer: forOffice(200),
  },
  removePrivateProjectMember: {
    scope: 'admin',
    path: (place) => `${project(place)}/members/${place.unique}`,
    // The project has no member with this id.
    answer: (standing) => (standing === 'owner' || standing === 'admin' ? NOT_FOUND : forOffice(200)(standing)),
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
    // It is somebody else's.
    answer: unrestricted(NOT_FOUND),
  },
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
  // Without an upgrade it is told to upgrade; sockets have tests of their own.
  syncSocket: { scope: 'read', path: () => '/sync/ws', answer: ok(426) },
};

const INCLUDES: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
};

/** The rule: scope first, then walls, then roles. */
export function expectedOf(operation: Operation, caller: Caller, isForeign: boolean): Expected {
  const { scope, answer } = operation;
  const standing = isForeign ? null : caller.role;
  if (scope === 'none' || answer(standing, caller).status === 426) return answer(standing, caller);
  const isGranted = caller.scopes.some((held) => INCLUDES[scope].includes(held));
  return isGranted ? answer(standing, caller) : { status: 403, code: 'insufficient_scope' };
}

/** Whether a write through sync takes hold: guests make no labels, and outsiders nothing. */
export function mayWrite({ role, scopes }: Caller, isForeign: boolean): boolean {
  return !isForeign && role !== null && role !== 'guest' && scopes.includes('write');
}
