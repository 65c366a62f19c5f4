import type { Contract } from '@wts/contracts';
import { apiKeyApi, memberApi, meta, privateProjectApi, syncApi, workspaceApi } from '@wts/contracts';

/** Who answers: the gateway itself, or the service behind the setting `<NAME>_URL`. */
export type Answerer = 'gateway' | 'workspace' | 'sync';
export type UpstreamName = Exclude<Answerer, 'gateway'>;

export interface Route {
  readonly contract: Contract;
  readonly to: Answerer;
  /** Web pages of configured origins may call it (CORS), and only they may open it as a WebSocket. */
  readonly browsers?: true;
}

/** Everything {base_url} serves. What a route needs (scope, body bound, deprecation) stands in its contract. */
export const API_ROUTES: readonly Route[] = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
  { contract: meta.description, to: 'gateway' },
  { contract: meta.docs, to: 'gateway' },
  { contract: meta.docsFile, to: 'gateway' },

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

  { contract: syncApi.bootstrap, to: 'sync', browsers: true },
  { contract: syncApi.bootstrapPost, to: 'sync', browsers: true },
  { contract: syncApi.batch, to: 'sync', browsers: true },
  { contract: syncApi.mutate, to: 'sync', browsers: true },
  { contract: syncApi.deltas, to: 'sync', browsers: true },
  { contract: syncApi.socket, to: 'sync', browsers: true },
];

/** Everything {auth_url} serves. The authorization server and the agent endpoint take their places here. */
export const AUTH_ROUTES: readonly Route[] = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
];
