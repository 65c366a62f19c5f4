import type { Contract } from '@wts/contracts';
import { apiKeyApi, memberApi, meta, privateProjectApi, syncApi, workspaceApi } from '@wts/contracts';

/** Who answers: the gateway itself, or the service behind the setting `<NAME>_URL`. */
export type Answerer = 'gateway' | 'workspace' | 'sync';
export type UpstreamName = Exclude<Answerer, 'gateway'>;

export interface Route {
  readonly contract: Contract;
  readonly to: Answerer;
  /** Public, and the same for everybody: pages of any origin may read it. All others only those of configured origins. */
  readonly anyOrigin?: true;
}

/** Everything {base_url} serves. What a route needs (scope, body bound, deprecation) stands in its contract. */
export const API_ROUTES: readonly Route[] = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
  { contract: meta.description, to: 'gateway', anyOrigin: true },
  { contract: meta.docs, to: 'gateway', anyOrigin: true },
  { contract: meta.docsFile, to: 'gateway', anyOrigin: true },
  { contract: meta.docsSlash, to: 'gateway' },
  { contract: meta.root, to: 'gateway' },

  { contract: workspaceApi.listWorkspaces, to: 'workspace' },
  { contract: workspaceApi.getWorkspaceBySlug, to: 'workspace' },
  { contract: workspaceApi.createWorkspace, to: 'workspace' },
  { contract: memberApi.joinWorkspace, to: 'workspace' },
  { contract: memberApi.listMembers, to: 'workspace' },
  { contract: memberApi.removeMember, to: 'workspace' },
  { contract: memberApi.listInvitations, to: 'workspace' },
  { contract: memberApi.createInvitation, to: 'workspace' },
  { contract: memberApi.deleteInvitation, to: 'workspace' },

  { contract: privateProjectApi.listPrivateProjects, to: 'workspace' },
  { contract: privateProjectApi.listPrivateProjectMembers, to: 'workspace' },
  { contract: privateProjectApi.addPrivateProjectMember, to: 'workspace' },
  { contract: privateProjectApi.removePrivateProjectMember, to: 'workspace' },

  { contract: apiKeyApi.listApiKeys, to: 'workspace' },
  { contract: apiKeyApi.createApiKey, to: 'workspace' },
  { contract: apiKeyApi.revokeApiKey, to: 'workspace' },

  { contract: syncApi.bootstrap, to: 'sync' },
  { contract: syncApi.bootstrapPost, to: 'sync' },
  { contract: syncApi.batch, to: 'sync' },
  { contract: syncApi.mutate, to: 'sync' },
  { contract: syncApi.deltas, to: 'sync' },
  { contract: syncApi.socket, to: 'sync' },
];

/** Everything {auth_url} serves. The authorization server and the agent endpoint take their places here. */
export const AUTH_ROUTES: readonly Route[] = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
];
