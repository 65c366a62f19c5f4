import type { ApiOperation, Expected, RoleHere, WorkspaceIds } from './access-rules.ts';

/** Of an endpoint of the workspace. Owners and admins get this status, other members 403, everyone else 404. */
type ForAdmins = (status: number) => (role: RoleHere) => Expected;

/** The operations of webhooks; see `ACCESS_RULES`. */
export function webhookAccessRules(forAdmins: ForAdmins): Readonly<Record<string, ApiOperation>> {
  const endpoint = ({ endpointId }: WorkspaceIds): string => `/api/webhooks/${endpointId}`;
  const delivery = (ids: WorkspaceIds): string => `${endpoint(ids)}/deliveries/${ids.deliveryId}`;
  const scope = 'admin';
  return {
    listWebhookEventTypes: { scope: 'none', path: () => '/api/webhooks/event-types', answer: () => ({ status: 200 }) },
    listWebhookEndpoints: {
      scope,
      path: ({ workspaceId }) => `/api/webhooks?workspaceId=${workspaceId}`,
      answer: forAdmins(200),
    },
    createWebhookEndpoint: {
      scope,
      path: () => '/api/webhooks',
      // The URL is refused after the role was checked, so no endpoint is created.
      body: ({ workspaceId }) => ({ workspaceId, url: 'https://10.0.0.1/' }),
      answer: forAdmins(400),
    },
    getWebhookEndpoint: { scope, path: endpoint, answer: forAdmins(200) },
    updateWebhookEndpoint: { scope, path: endpoint, body: () => ({ description: 'Changed' }), answer: forAdmins(200) },
    deleteWebhookEndpoint: { scope, path: endpoint, answer: forAdmins(200) },
    rotateWebhookSecret: { scope, path: (ids) => `${endpoint(ids)}/rotate-secret`, answer: forAdmins(200) },
    testWebhookEndpoint: { scope, path: (ids) => `${endpoint(ids)}/test`, answer: forAdmins(202) },
    listWebhookDeliveries: { scope, path: (ids) => `${endpoint(ids)}/deliveries`, answer: forAdmins(200) },
    listWebhookAttempts: { scope, path: (ids) => `${delivery(ids)}/attempts`, answer: forAdmins(200) },
    retryWebhookDelivery: { scope, path: (ids) => `${delivery(ids)}/retry`, answer: forAdmins(202) },
    replayWebhookDeliveries: {
      scope,
      path: (ids) => `${endpoint(ids)}/replay`,
      body: () => ({ since: '2026-01-01T00:00:00.000Z' }),
      answer: forAdmins(202),
    },
  };
}
