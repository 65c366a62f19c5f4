import { openNats as openService, type Nats } from '@wts/service-kit/nats';
import { createLogger } from '@wts/service-kit/observe';

const log = createLogger({ name: 'test', level: 'silent' });

/** The connection of a service, once it is up. */
export async function openNats(url: string, stack: AsyncDisposableStack): Promise<Nats> {
  const nats = openService({ natsUrls: [url], name: 'test', log, stack });
  await nats.ready;
  return nats;
}
