import { meta } from '@wts/contracts';
import type { Address } from '@wts/service-kit';
import type { Upstream } from './upstream.ts';

/**
 * Asks a service whether it is ready, at its addresses in turn until one says yes. Throws what the last one said.
 * The services ping PostgreSQL; the gateway holds no store of its own to ask.
 * Keeps meta.ready.ping, meta.ready.down, meta.ready.recovers.
 */
export async function checkUpstream(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const tried = new Set<Address>();
  let refusal: unknown = new Error(`${upstream.name} has no address`);
  for (let target = upstream.pick(tried); target !== null; target = upstream.pick(tried)) {
    tried.add(target);
    try {
      const { statusCode, body } = await target.pool.request({ method: 'GET', path: meta.ready.path, signal });
      await body.dump();
      if (statusCode === 200) return;
      refusal = new Error(`${upstream.name} answers ${statusCode}`);
    } catch (cause) {
      refusal = cause;
    }
  }
  throw refusal;
}
