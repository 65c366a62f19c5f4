import type { WebhookEndpoint } from '@wts/client/api';
import type { Call } from '../call.ts';
import type { Session } from '../session/session.ts';
import { isId, pick } from './pick.ts';

/** The endpoint that a word names: its id or the beginning of one, its address or a part of it, or its description. */
export async function findEndpoint({ session }: Pick<Call, 'session'>, word: string): Promise<WebhookEndpoint> {
  const opened = await session();
  if (isId(word)) return (await opened.api.getWebhookEndpoint({ id: word })).endpoint;
  return pick(word, await endpointsOf(opened), {
    nouns: ['webhook endpoint', 'endpoints'],
    isExact: ({ url, description }, text) => [url, description].some((one) => one.toLowerCase() === text),
    isNear: ({ url }, text) => url.toLowerCase().includes(text),
    shown: ({ url }) => url,
    listedBy: 'wts webhook list shows the endpoints of the workspace',
  });
}

export async function endpointsOf({ api, workspace }: Session): Promise<readonly WebhookEndpoint[]> {
  const { id: workspaceId } = await workspace();
  return (await api.listWebhookEndpoints({ workspaceId })).endpoints;
}
