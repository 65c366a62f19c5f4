import { STREAM } from '@wts/contracts';
import { subscribe, type Nats } from '@wts/service-kit/nats';

/*
 * What replicas of the dispatcher announce to each other: endpoints that have new deliveries or new settings. Nothing rests
 * on it: an announcement that is lost costs the interval in which replicas look by themselves.
 */

/** So that no message is larger than a broker takes. */
const ENDPOINTS_MAX = 1_000;

export function announce(nats: Pick<Nats, 'connection'>, endpointIds: readonly string[]): void {
  const connection = nats.connection();
  if (connection === null) return;
  for (let from = 0; from < endpointIds.length; from += ENDPOINTS_MAX)
    connection.publish(STREAM.webhooks, JSON.stringify({ endpointIds: endpointIds.slice(from, from + ENDPOINTS_MAX) }));
}

export function onAnnounced(
  nats: Pick<Nats, 'onConnect'>,
  onEndpoints: (endpointIds: readonly string[]) => void,
): void {
  subscribe(nats, STREAM.webhooks, ({ data }) => {
    const endpointIds = read(data);
    if (endpointIds.length > 0) onEndpoints(endpointIds);
  });
}

/** Empty for what is no announcement. */
function read(data: Uint8Array): readonly string[] {
  try {
    const { endpointIds } = JSON.parse(Buffer.from(data).toString('utf8')) as { endpointIds?: unknown };
    return Array.isArray(endpointIds) ? endpointIds.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
