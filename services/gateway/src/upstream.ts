import { Addresses, type AddressesOptions } from '@wts/service-kit/call';
import type { Logger } from '@wts/service-kit/observe';
import { EDGE_LIMITS } from './limits.ts';

/** A service behind the gateway. */
export type Upstream = Addresses;

export function openUpstream(
  name: string,
  urls: readonly string[],
  log: Logger,
  more: Pick<Partial<AddressesOptions>, 'headersTimeoutMs' | 'observe' | 'refreshMs' | 'watch'> = {},
): Upstream {
  return new Addresses({
    name,
    urls,
    log,
    underWayMax: EDGE_LIMITS.inFlightMax,
    connections: EDGE_LIMITS.connectionsMax,
    connectTimeoutMs: EDGE_LIMITS.connectTimeoutMs,
    headersTimeoutMs: EDGE_LIMITS.upstreamHeadersTimeoutMs,
    bodyTimeoutMs: EDGE_LIMITS.upstreamBodyTimeoutMs,
    ...more,
  });
}
