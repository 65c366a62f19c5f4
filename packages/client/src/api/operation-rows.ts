// Written by `npm run models` in packages/client. Do not edit.

import type { Operations } from './operations.ts';
import type { OperationRow } from './request.ts';

/** How each operation is sent. */
export const OPERATIONS = {
  createWorkspace: { method: 'POST', path: '/api/workspaces', hasBody: true, hasKey: true, reply: ['ok', 'workspace'] },
  deleteWorkspace: { method: 'POST', path: '/api/workspaces/{workspaceId}/deletion', hasBody: true, reply: ['ok', 'workspace'] },
  getWorkspaceBySlug: { method: 'GET', path: '/api/workspaces/by-slug/{slug}', reply: ['ok', 'workspace'] },
  listWorkspaces: { method: 'GET', path: '/api/workspaces', reply: ['ok', 'workspaces'] },
  restoreWorkspace: { method: 'POST', path: '/api/workspaces/{workspaceId}/restoration', reply: ['ok', 'workspace'] },
  createInvitation: { method: 'POST', path: '/api/workspaces/{workspaceId}/invitations', hasBody: true, hasKey: true, reply: ['ok', 'invitation'] },
  deleteInvitation: { method: 'DELETE', path: '/api/workspaces/{workspaceId}/invitations/{invitationId}', isDeletion: true, reply: ['ok'] },
  joinWorkspace: { method: 'POST', path: '/api/workspaces/join', hasBody: true, hasKey: true, reply: ['ok', 'workspace', 'role'] },
  listInvitations: { method: 'GET', path: '/api/workspaces/{workspaceId}/invitations', reply: ['ok', 'invitations'] },
  listMembers: { method: 'GET', path: '/api/workspaces/{workspaceId}/members', reply: ['ok', 'members'] },
  removeMember: { method: 'DELETE', path: '/api/workspaces/{workspaceId}/members/{userId}', reply: ['ok', 'openInvitations'] },
  addPrivateProjectMember: { method: 'POST', path: '/api/workspaces/{workspaceId}/private-projects/{projectId}/members', hasBody: true, reply: ['ok', 'member'] },
  listPrivateProjectMembers: { method: 'GET', path: '/api/workspaces/{workspaceId}/private-projects/{projectId}/members', reply: ['ok', 'members', 'hasMore'] },
  listPrivateProjects: { method: 'GET', path: '/api/workspaces/{workspaceId}/private-projects', reply: ['ok', 'projects', 'hasMore'] },
  removePrivateProjectMember: { method: 'DELETE', path: '/api/workspaces/{workspaceId}/private-projects/{projectId}/members/{userId}', isDeletion: true, reply: ['ok'] },
  createApiKey: { method: 'POST', path: '/api/auth/keys', hasBody: true, hasKey: true, reply: ['ok', 'key'] },
  listApiKeys: { method: 'GET', path: '/api/auth/keys', reply: ['ok', 'keys'] },
  revokeApiKey: { method: 'DELETE', path: '/api/auth/keys/{keyId}', isDeletion: true, reply: ['ok'] },
  endWorkspaceApp: { method: 'DELETE', path: '/api/workspaces/{workspaceId}/apps/{grantId}', isDeletion: true, reply: ['ok'] },
  listWorkspaceAccess: { method: 'GET', path: '/api/workspaces/{workspaceId}/access', reply: ['ok', 'members', 'hasMore'] },
  listWorkspaceApps: { method: 'GET', path: '/api/workspaces/{workspaceId}/apps', reply: ['ok', 'apps', 'hasMore'] },
  listSecurityEvents: { method: 'GET', path: '/api/workspaces/{workspaceId}/security-events', reply: ['ok', 'events', 'next'] },
  getWorkspaceSecurity: { method: 'GET', path: '/api/workspaces/{workspaceId}/security', reply: ['ok', 'security'] },
  updateWorkspaceSecurity: { method: 'PATCH', path: '/api/workspaces/{workspaceId}/security', hasBody: true, reply: ['ok', 'security'] },
  createWebhookEndpoint: { method: 'POST', path: '/api/webhooks', hasBody: true, hasKey: true, reply: ['ok', 'endpoint', 'secret'] },
  deleteWebhookEndpoint: { method: 'DELETE', path: '/api/webhooks/{id}', isDeletion: true, reply: ['ok'] },
  getWebhookEndpoint: { method: 'GET', path: '/api/webhooks/{id}', reply: ['ok', 'endpoint'] },
  listWebhookAttempts: { method: 'GET', path: '/api/webhooks/{id}/deliveries/{deliveryId}/attempts', reply: ['ok', 'attempts'] },
  listWebhookDeliveries: { method: 'GET', path: '/api/webhooks/{id}/deliveries', reply: ['ok', 'deliveries'] },
  listWebhookEndpoints: { method: 'GET', path: '/api/webhooks', reply: ['ok', 'endpoints'] },
  listWebhookEventTypes: { method: 'GET', path: '/api/webhooks/event-types', reply: ['ok', 'eventTypes'] },
  replayWebhookDeliveries: { method: 'POST', path: '/api/webhooks/{id}/replay', hasBody: true, reply: ['ok', 'count'] },
  retryWebhookDelivery: { method: 'POST', path: '/api/webhooks/{id}/deliveries/{deliveryId}/retry', reply: ['ok', 'delivery'] },
  rotateWebhookSecret: { method: 'POST', path: '/api/webhooks/{id}/rotate-secret', hasKey: true, reply: ['ok', 'endpoint', 'secret'] },
  testWebhookEndpoint: { method: 'POST', path: '/api/webhooks/{id}/test', hasKey: true, reply: ['ok', 'delivery'] },
  updateWebhookEndpoint: { method: 'PATCH', path: '/api/webhooks/{id}', hasBody: true, reply: ['ok', 'endpoint'] },
} as const satisfies Readonly<Record<keyof Operations, OperationRow>>;
