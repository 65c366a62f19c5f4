import { Fault, type Principal, type WebhookEndpoint } from '@wts/contracts';
import type { Context } from '../context.ts';

const UNKNOWN_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/**
 * The endpoint, for a caller who manages the webhooks of its workspace. A person outside the workspace learns no more than
 * for an id that does not exist. Keeps webhooks.manage.not-found, webhooks.manage.who.
 */
export async function requireEndpoint(
  { roles, endpoints }: Pick<Context, 'roles' | 'endpoints'>,
  principal: Principal,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await endpoints.find(id);
  // Checked also for an endpoint that does not exist, in a workspace without members: both answers take the same time.
  await roles.requirePermission(principal, endpoint?.workspaceId ?? UNKNOWN_WORKSPACE, 'webhooks.manage');
  if (endpoint === null) throw new Fault('not_found');
  return endpoint;
}

/** An endpoint that may be changed: in a deleted workspace, endpoints can only be read and deleted. */
export async function requireChangeableEndpoint(
  context: Pick<Context, 'roles' | 'endpoints'>,
  principal: Principal,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await requireEndpoint(context, principal, id);
  await context.roles.refuseDeleted(endpoint.workspaceId);
  return endpoint;
}

/** An endpoint to which something is to be sent now. */
export async function requireEnabledEndpoint(
  context: Pick<Context, 'roles' | 'endpoints'>,
  principal: Principal,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await requireChangeableEndpoint(context, principal, id);
  if (endpoint.enabled) return endpoint;
  throw endpointDisabled();
}

export function endpointDisabled(): Fault {
  return new Fault('conflict', { message: 'The endpoint is disabled. Set `enabled` to true first.' });
}
