import type { Contract, ServiceName } from '@wts/contracts';
import { apiKeyApi, memberApi, meta, privateProjectApi, syncApi, workspaceApi } from '@wts/contracts';

interface Row {
  readonly contract: Contract;
  /** Who answers: the gateway itself, or the service behind the setting `<NAME>_URL`. */
  readonly to: ServiceName;
  /** Public, and the same for everybody: pages of any origin may read it. All others only those of configured origins. */
  readonly anyOrigin?: true;
}

export interface Route extends Row {
  readonly to: UpstreamName | 'gateway';
}

/** Everything {base_url} serves. What a route needs (scope, body bound, deprecation) stands in its contract. */
export const API_ROUTES = [
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
] as const satisfies readonly Row[];

/** Everything {auth_url} serves. The authorization server and the agent endpoint take their places here. */
export const AUTH_ROUTES = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
] as const satisfies readonly Row[];

/** The services that a route leads to. Their settings, connections and tokens follow from this. */
export type UpstreamName = Exclude<(typeof API_ROUTES | typeof AUTH_ROUTES)[number]['to'], 'gateway'>;

/** Something for each of them. */
export function forUpstreams<T>(make: (name: UpstreamName) => T): Readonly<Record<UpstreamName, T>> {
  const names = new Set([...API_ROUTES, ...AUTH_ROUTES].map(({ to }) => to).filter((to) => to !== 'gateway'));
  return Object.fromEntries([...names].map((name) => [name, make(name)])) as Record<UpstreamName, T>;
}
