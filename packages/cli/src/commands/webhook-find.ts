import type { WebhookEndpoint } from '@wts/client/api';
import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import type { Session } from '../session/session.ts';

/** The endpoint that a word names: its id or the beginning of one, its address or a part of it, or its description. */
export async function findEndpoint({ session }: Pick<Call, 'session'>, word: string): Promise<WebhookEndpoint> {
  const opened = await session();
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word))
    return (await opened.api.getWebhookEndpoint({ id: word })).endpoint;
  const all = await endpointsOf(opened);
  const text = word.toLowerCase();
  const exact = all.filter(({ url, description }) => [url, description].some((one) => one.toLowerCase() === text));
  const near = all.filter(
    ({ id, url }) => (text.length >= 4 && id.startsWith(text)) || url.toLowerCase().includes(text),
  );
  const [found, ...others] = exact.length > 0 ? exact : near;
  if (found === undefined) {
    const hint = 'wts webhook list shows the endpoints of the workspace.';
    throw new CliFault('not-found', `No webhook endpoint is named ${JSON.stringify(word)}.`, { hint });
  }
  if (others.length === 0) return found;
  const hint = [found, ...others].map(({ id, url }) => `${id}  ${url}`).join('\n');
  throw new CliFault('refused', `${JSON.stringify(word)} may mean several endpoints.`, { code: 'ambiguous', hint });
}

export async function endpointsOf({ api, workspace }: Session): Promise<readonly WebhookEndpoint[]> {
  const { id: workspaceId } = await workspace();
  return (await api.listWebhookEndpoints({ workspaceId })).endpoints;
}
