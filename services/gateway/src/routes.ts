import { issuerOf } from '@wts/access';
import type { Contract, ServiceName } from '@wts/contracts';
import {
  accessApi,
  apiKeyApi,
  authorizeApi,
  connectApi,
  contractsOf,
  factorApi,
  graphqlApi,
  mcpApi,
  memberApi,
  meta,
  oauthApi,
  operatorApi,
  pageApi,
  privateProjectApi,
  syncApi,
  webhookApi,
  workspaceApi,
  workspaceSecurityApi,
} from '@wts/contracts';

interface RouteRow {
  readonly contract: Contract;
  /** The gateway itself, or the service at the setting `<NAME>_SERVICE_URL`. */
  readonly to: ServiceName;
  /** Pages of any origin may read the answer, because it is public. Other answers need a configured origin. */
  readonly anyOrigin?: true;
  /** The Authorization header is of a client (RFC 6749 section 2.3.1) or of an operator, whom its service authenticates. */
  readonly hasClient?: true;
  /** Credentials are for the agent endpoint, and not for the API. */
  readonly isOfAgents?: true;
}

export interface Route extends RouteRow {
  readonly to: UpstreamName | 'gateway';
}

/** The routes of {base_url}. The contract of a route has its scope and its body limit. */
export const API_ROUTES = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
  { contract: meta.description, to: 'gateway', anyOrigin: true },
  { contract: meta.docs, to: 'gateway', anyOrigin: true },
  { contract: meta.docsFile, to: 'gateway', anyOrigin: true },
  { contract: meta.docsSlash, to: 'gateway' },
  { contract: meta.consolePage, to: 'gateway' },
  { contract: meta.consoleFile, to: 'gateway' },
  { contract: meta.consoleSlash, to: 'gateway' },
  { contract: meta.root, to: 'gateway' },
  { contract: oauthApi.apiResource, to: 'auth', anyOrigin: true },

  { contract: workspaceApi.listWorkspaces, to: 'workspace' },
  { contract: workspaceApi.getWorkspaceBySlug, to: 'workspace' },
  { contract: workspaceApi.createWorkspace, to: 'workspace' },
  { contract: workspaceApi.deleteWorkspace, to: 'workspace' },
  { contract: workspaceApi.restoreWorkspace, to: 'workspace' },
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

  { contract: apiKeyApi.listApiKeys, to: 'auth' },
  { contract: apiKeyApi.createApiKey, to: 'auth' },
  { contract: apiKeyApi.revokeApiKey, to: 'auth' },

  { contract: accessApi.listAccess, to: 'auth' },
  { contract: accessApi.listSecurityEvents, to: 'auth' },
  { contract: accessApi.listApps, to: 'auth' },
  { contract: accessApi.endApp, to: 'auth' },
  { contract: workspaceSecurityApi.getWorkspaceSecurity, to: 'auth' },
  { contract: workspaceSecurityApi.updateWorkspaceSecurity, to: 'auth' },

  { contract: webhookApi.listEventTypes, to: 'webhook-dispatcher' },
  { contract: webhookApi.listEndpoints, to: 'webhook-dispatcher' },
  { contract: webhookApi.createEndpoint, to: 'webhook-dispatcher' },
  { contract: webhookApi.getEndpoint, to: 'webhook-dispatcher' },
  { contract: webhookApi.updateEndpoint, to: 'webhook-dispatcher' },
  { contract: webhookApi.deleteEndpoint, to: 'webhook-dispatcher' },
  { contract: webhookApi.rotateSecret, to: 'webhook-dispatcher' },
  { contract: webhookApi.testEndpoint, to: 'webhook-dispatcher' },
  { contract: webhookApi.listDeliveries, to: 'webhook-dispatcher' },
  { contract: webhookApi.listAttempts, to: 'webhook-dispatcher' },
  { contract: webhookApi.retryDelivery, to: 'webhook-dispatcher' },
  { contract: webhookApi.replayDeliveries, to: 'webhook-dispatcher' },

  { contract: graphqlApi.query, to: 'graph' },
  { contract: graphqlApi.schema, to: 'graph', anyOrigin: true },

  { contract: syncApi.bootstrap, to: 'sync' },
  { contract: syncApi.bootstrapPost, to: 'sync' },
  { contract: syncApi.batch, to: 'sync' },
  { contract: syncApi.mutate, to: 'sync' },
  { contract: syncApi.deltas, to: 'sync' },
  { contract: syncApi.socket, to: 'sync' },
] as const satisfies readonly RouteRow[];

/** Further routes of {base_url} where the setting GRAPHIQL is on. */
export const GRAPHIQL_ROUTES = [
  { contract: meta.graphiqlPage, to: 'gateway' },
  { contract: meta.graphiqlFile, to: 'gateway' },
] as const satisfies readonly RouteRow[];

/** The agent endpoint with its document. */
const AGENT_ROUTES = [
  { contract: mcpApi.call, to: 'agent', anyOrigin: true, isOfAgents: true },
  { contract: oauthApi.mcpResource, to: 'auth', anyOrigin: true },
] as const satisfies readonly RouteRow[];

/** The routes of {auth_url}. */
export const AUTH_ROUTES = [
  { contract: meta.health, to: 'gateway' },
  { contract: meta.ready, to: 'gateway' },
  ...AGENT_ROUTES,

  ...rowsOf(pageApi, { to: 'auth' }),
  ...rowsOf(factorApi, { to: 'auth' }),
  ...rowsOf(connectApi, { to: 'auth' }),
  ...rowsOf(authorizeApi, { to: 'auth' }),
  { contract: oauthApi.authorizationServer, to: 'auth', anyOrigin: true },
  { contract: oauthApi.jwks, to: 'auth', anyOrigin: true },
  { contract: oauthApi.register, to: 'auth', anyOrigin: true },
  { contract: oauthApi.token, to: 'auth', anyOrigin: true, hasClient: true },
  ...rowsOf(operatorApi, { to: 'auth', hasClient: true }),
] as const satisfies readonly RouteRow[];

/** A row for each operation of an API. */
function rowsOf<const Row extends Omit<RouteRow, 'contract'>>(api: object, row: Row) {
  return contractsOf(api).map((contract) => ({ contract, ...row }));
}

/** Further routes of {auth_url} where it has a path. A proxy forwards these unchanged, and removes the path from all others. */
export function routesAtPath(issuer: string): readonly Route[] {
  const { server, mcp } = oauthApi.documentsAtPath(issuer) ?? {};
  return [server, mcp].flatMap((contract) =>
    contract === undefined ? [] : [{ contract, to: 'auth', anyOrigin: true }],
  );
}

/** The routes of both origins of a cell: the agent endpoint of a further one than the first is at {base_url}. Keeps agent.cells.address. */
export function routesOf({ shard, authUrl }: { readonly shard: number; readonly authUrl: string }): {
  readonly api: readonly Route[];
  readonly auth: readonly Route[];
} {
  if (shard === 0) return { api: API_ROUTES, auth: [...AUTH_ROUTES, ...routesAtPath(issuerOf(authUrl))] };
  const agentRoutes: readonly Route[] = AGENT_ROUTES;
  return { api: [...API_ROUTES, ...agentRoutes], auth: AUTH_ROUTES.filter((route) => !agentRoutes.includes(route)) };
}

/** The services that routes use. Their settings, connections and tokens are derived from this. */
export type UpstreamName = Exclude<(typeof API_ROUTES | typeof AUTH_ROUTES)[number]['to'], 'gateway'>;

/** Without one of these the gateway is not ready. Without any other, only the operations of that service are unavailable. */
export const ESSENTIAL_UPSTREAMS: readonly UpstreamName[] = ['auth', 'workspace', 'sync'];

/** Makes a value for each of these services. */
export function forUpstreams<T>(make: (name: UpstreamName) => T): Readonly<Record<UpstreamName, T>> {
  const names = new Set([...API_ROUTES, ...AUTH_ROUTES].map(({ to }) => to).filter((to) => to !== 'gateway'));
  return Object.fromEntries([...names].map((name) => [name, make(name)])) as Record<UpstreamName, T>;
}
