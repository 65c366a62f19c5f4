import type { WebhookEndpoint } from '@wts/client/api';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { given } from '../options.ts';
import type { View } from '../output/view.ts';
import { confirm } from './ask.ts';
import { endpointsOf, findEndpoint } from './webhook-find.ts';

type EventTypes = WebhookEndpoint['eventTypes'];

const VIEW: View<WebhookEndpoint> = {
  nouns: ['webhook endpoint', 'webhook endpoints'],
  id: ({ id }) => id,
  columns: [
    { title: 'ID', value: ({ id }) => id, shown: ({ id }) => id.slice(0, 8) },
    { title: 'URL', value: ({ url }) => url, isCut: true },
    { title: 'EVENTS', value: ({ eventTypes }) => eventTypes.join(',') || 'all', isCut: true },
    {
      title: 'STATE',
      value: ({ enabled, disabledReason }) =>
        enabled ? 'enabled' : `disabled${disabledReason === null ? '' : ` (${disabledReason})`}`,
      style: ({ enabled }) => (enabled ? undefined : 'red'),
    },
    { title: 'DESCRIPTION', value: ({ description }) => description, isCut: true },
  ],
};

const changed = (what: string, { id, url }: WebhookEndpoint) => ({ id, key: url, line: `${what} ${id} ${url}` });

export async function list({ output, session }: Call): Promise<void> {
  await output.list(await endpointsOf(await session()), VIEW);
}

export async function create({ words, options, output, session }: Call): Promise<void> {
  const { api, workspace } = await session();
  const { id: workspaceId } = await workspace();
  const { endpoint, secret } = await api.createWebhookEndpoint({
    url: words[0] ?? '',
    workspaceId,
    description: options.text('description') ?? '',
    eventTypes: eventTypesOf(options.list('event')),
  });
  await withSecret(output, endpoint, secret, 'Created');
}

export async function edit(call: Call): Promise<void> {
  const { words, options, output, session } = call;
  const events = options.list('event');
  const [enable, disable] = [options.flag('enable'), options.flag('disable')];
  if (enable && disable) throw usageFault('--enable and --disable exclude each other.');
  const change = given({
    url: options.text('url'),
    description: options.text('description'),
    eventTypes: events.length === 0 ? undefined : events.includes('all') ? [] : eventTypesOf(events),
    enabled: enable || disable ? enable : undefined,
  });
  if (Object.keys(change).length === 0) throw usageFault('Say what changes.', 'wts webhook edit --help');
  const { id } = await findEndpoint(call, words[0] ?? '');
  const { endpoint } = await (await session()).api.updateWebhookEndpoint({ id, ...change });
  await output.changed(endpoint, changed('Changed', endpoint));
}

export async function test(call: Call): Promise<void> {
  const { id } = await findEndpoint(call, call.words[0] ?? '');
  const { delivery } = await (await call.session()).api.testWebhookEndpoint({ id });
  await call.output.changed(delivery, {
    id: delivery.id,
    key: delivery.eventType,
    line: `Queued ${delivery.eventType} as delivery ${delivery.id}. See: wts webhook deliveries ${id}`,
  });
}

export async function rotate(call: Call): Promise<void> {
  const { id } = await findEndpoint(call, call.words[0] ?? '');
  const { endpoint, secret } = await (await call.session()).api.rotateWebhookSecret({ id });
  await call.output.note('Deliveries are signed by the secrets before too, for 24 hours.');
  await withSecret(call.output, endpoint, secret, 'Rotated the secret of');
}

export async function remove(call: Call): Promise<void> {
  const endpoint = await findEndpoint(call, call.words[0] ?? '');
  await confirm(call, `Delete ${endpoint.url} with its deliveries?`);
  await (await call.session()).api.deleteWebhookEndpoint({ id: endpoint.id });
  await call.output.changed(endpoint, changed('Deleted', endpoint));
}

/** The secret alone on stdout, so that a script can pass it on. */
async function withSecret(
  output: Call['output'],
  endpoint: WebhookEndpoint,
  secret: string,
  what: string,
): Promise<void> {
  if (output.isJson) return output.record({ ...endpoint, secret }, endpoint.id, []);
  await output.note(`${what} ${endpoint.id} ${endpoint.url}. Store the secret now; it is not shown again.`);
  await output.text(`${secret}\n`);
}

/** The service refuses a type that it does not know, with the list of them. */
export function eventTypesOf(words: readonly string[]): EventTypes {
  return words.flatMap((one) => one.split(',')).filter((one) => one !== '') as unknown as EventTypes;
}
