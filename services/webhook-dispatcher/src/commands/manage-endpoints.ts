import { randomUUID } from 'node:crypto';
import type { EndpointChange, NewEndpoint, Principal, WebhookEndpoint } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import { newIds, type EffectSource } from '@wts/service-kit/routes';
import type { Context } from '../context.ts';
import { sealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import { makeSecret, secretText } from '../domain/secrets.ts';
import { requireChangeableEndpoint, requireEndpoint } from '../queries/require-endpoint.ts';

interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  /** Shown this once. */
  readonly secret: string;
}

const OVERLAP_HOURS = 24;

/**
 * Creates an endpoint; its events begin with the next commit. Keeps webhooks.create.answer, webhooks.create.required,
 * webhooks.create.not-configured, webhooks.endpoint.limit, errors.402.endpoint-limit, webhooks.endpoint.description-max.
 */
export async function createEndpoint(
  context: Context,
  principal: Principal,
  input: NewEndpoint,
  source: EffectSource,
): Promise<EndpointWithSecret> {
  const workspaceId = input.workspaceId.toLowerCase();
  await context.roles.requirePermission(principal, workspaceId, 'webhooks.manage');
  await context.roles.refuseDeleted(workspaceId);
  const keys = requireKeys(context);
  const url = await requireUrl(context, input.url);
  const secret = makeSecret();
  let endpoint: WebhookEndpoint | null = null;
  for (const id of newIds(source)) {
    endpoint ??= await context.endpoints.create(
      { ...input, url, workspaceId, id, createdBy: principal.userId },
      { id, ...sealSecret(keys, id, secret) },
      LIMITS.webhookEndpointsMax,
    );
  }
  if (endpoint === null) {
    await context.roles.refuseMoving(workspaceId);
    throw new Fault('endpoint_limit_reached');
  }
  context.follow(workspaceId);
  return { endpoint, secret: secretText(secret) };
}

/** Keeps webhooks.update.optional, webhooks.update.re-enable. */
export async function updateEndpoint(
  context: Context,
  principal: Principal,
  id: string,
  change: EndpointChange,
): Promise<WebhookEndpoint> {
  const { id: endpointId, workspaceId } = await requireChangeableEndpoint(context, principal, id);
  const url = change.url === undefined ? {} : { url: await requireUrl(context, change.url) };
  const endpoint = await context.endpoints.update(endpointId, { ...change, ...url });
  if (endpoint === null) return refuseGone(context, workspaceId);
  context.announce([endpointId]);
  if (change.enabled === true) context.follow(workspaceId);
  return endpoint;
}

/** From then on nothing of it is found; its history is removed in steps. Keeps webhooks.delete.history. */
export async function deleteEndpoint(context: Context, principal: Principal, id: string): Promise<void> {
  const { id: endpointId, workspaceId } = await requireEndpoint(context, principal, id);
  if (!(await context.endpoints.remove(endpointId))) await refuseGone(context, workspaceId);
  context.announce([endpointId]);
}

/** The secrets before sign for a day more. Keeps webhooks.rotate.answer. */
export async function rotateSecret(
  context: Context,
  principal: Principal,
  id: string,
  { effectId = randomUUID() }: EffectSource,
): Promise<EndpointWithSecret> {
  const { id: endpointId, workspaceId } = await requireChangeableEndpoint(context, principal, id);
  const secret = makeSecret();
  const sealed = { id: effectId, ...sealSecret(requireKeys(context), endpointId, secret) };
  const bounds = { max: LIMITS.webhookSecretsMax, overlapHours: OVERLAP_HOURS };
  const endpoint = await context.endpoints.rotate(endpointId, sealed, bounds);
  if (endpoint === null) return refuseGone(context, workspaceId);
  if (endpoint === 'too_many_secrets') {
    const message = `The endpoint has ${LIMITS.webhookSecretsMax} secrets in force. The oldest ends within ${OVERLAP_HOURS} hours.`;
    throw new Fault('conflict', { message });
  }
  context.announce([endpointId]);
  return { endpoint, secret: secretText(secret) };
}

/** For a change that found no endpoint: it is deleted, or its workspace moves. */
async function refuseGone({ roles }: Context, workspaceId: string): Promise<never> {
  await roles.refuseMoving(workspaceId);
  throw new Fault('not_found');
}

export function requireKeys({ secretKeys }: Pick<Context, 'secretKeys'>): SecretKeys {
  if (secretKeys === null) throw new Fault('webhooks_not_configured');
  return secretKeys;
}

/** The address as it will be called. Keeps webhooks.create.url-https, webhooks.create.url-public. */
async function requireUrl({ refusalOfUrl }: Context, url: string): Promise<string> {
  const message = await refusalOfUrl(url);
  if (message !== null) throw new Fault('validation_failed', { message });
  return new URL(url).href;
}
