import type { WebhookDelivery } from '@wts/client/api';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { given } from '../options.ts';
import { agoColumn, type View } from '../output/view.ts';
import { limitOf } from './pages.ts';
import { findEndpoint } from './webhook-find.ts';

const PAGE = 100;
const LIMIT_DEFAULT = 25;

const VIEW: View<WebhookDelivery> = {
  nouns: ['delivery', 'deliveries'],
  id: ({ id }) => id,
  columns: [
    { title: 'ID', value: ({ id }) => id, shown: ({ id }) => id.slice(0, 8) },
    { title: 'EVENT', value: ({ eventType }) => eventType },
    { title: 'POSITION', value: ({ payload }) => payload.syncActionId },
    {
      title: 'STATUS',
      value: ({ status }) => status,
      style: ({ status }) => (status === 'failed' ? 'red' : status === 'succeeded' ? 'green' : undefined),
    },
    { title: 'ATTEMPTS', value: ({ attemptCount }) => attemptCount, isRight: true },
    { title: 'LAST', value: ({ lastStatusCode, lastError }) => lastStatusCode ?? lastError },
    agoColumn('QUEUED', ({ createdAt }) => createdAt),
  ],
};

export async function deliveries(call: Call): Promise<void> {
  const { options, output, words } = call;
  const limit = limitOf(call, LIMIT_DEFAULT);
  const status = options.text('status');
  const { id } = await findEndpoint(call, words[0] ?? '');
  await output.list(await read(call, id, { limit, status }), VIEW);
}

/** Pages are read until enough are found, or there is no more. */
async function read(
  { session, signal }: Call,
  id: string,
  { limit, status }: { readonly limit: number; readonly status: string | undefined },
): Promise<WebhookDelivery[]> {
  const { api } = await session();
  const found: WebhookDelivery[] = [];
  for (let before: string | undefined; found.length < limit;) {
    const { deliveries } = await api.listWebhookDeliveries({ id, limit: PAGE, ...given({ before }) }, { signal });
    found.push(...deliveries.filter((one) => status === undefined || one.status === status));
    before = deliveries.at(-1)?.createdAt;
    if (deliveries.length < PAGE) break;
  }
  return found.slice(0, limit);
}

export async function retry(call: Call): Promise<void> {
  const [word = '', wanted = ''] = call.words;
  const { id } = await findEndpoint(call, word);
  const deliveryId = await deliveryOf(call, id, wanted);
  const { delivery } = await (await call.session()).api.retryWebhookDelivery({ id, deliveryId });
  await call.output.changed(delivery, {
    id: delivery.id,
    key: delivery.eventType,
    line: `One more attempt of ${delivery.eventType}, delivery ${delivery.id}, is queued.`,
  });
}

/** The beginning of an id is enough, among the newest. */
async function deliveryOf(call: Call, endpointId: string, word: string): Promise<string> {
  if (word.length === 36) return word;
  if (!/^[0-9a-f-]{4,}$/i.test(word)) throw usageFault(`${JSON.stringify(word)} is no id of a delivery.`);
  const newest = await read(call, endpointId, { limit: 1_000, status: undefined });
  const [found, ...others] = newest.filter(({ id }) => id.startsWith(word.toLowerCase()));
  if (found === undefined) throw new CliFault('not-found', `No recent delivery has an id that begins with ${word}.`);
  if (others.length > 0)
    throw new CliFault('refused', `Several deliveries have an id that begins with ${word}.`, { code: 'ambiguous' });
  return found.id;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export async function replay(call: Call): Promise<void> {
  const { options, words, io, output } = call;
  const given = options.text('since');
  if (given === undefined) throw usageFault('Say since when: --since 2h, or a time such as 2026-12-01T09:00:00Z.');
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(given) ?? [];
  const at = count === undefined ? Date.parse(given) : io.now().getTime() - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isNaN(at)) throw usageFault(`--since takes 30m, 2h, 3d or a time, not ${JSON.stringify(given)}.`);
  const since = new Date(at).toISOString();
  const { id } = await findEndpoint(call, words[0] ?? '');
  const { count: queued } = await (await call.session()).api.replayWebhookDeliveries({ id, since });
  if (output.isJson) return output.value({ count: queued, since });
  await output.text(
    `${queued} failed ${queued === 1 ? 'delivery' : 'deliveries'} since ${since} ${queued === 1 ? 'is' : 'are'} tried again.\n`,
  );
}
