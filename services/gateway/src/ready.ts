import { setTimeout as sleep } from 'node:timers/promises';
import { meta } from '@wts/contracts';
import type { Address } from '@wts/service-kit/call';
import type { Upstream } from './upstream.ts';

/** When an address has not answered within this time, the next one is checked in parallel. */
const NEXT_ADDRESS_MS = 300;

/**
 * Checks whether a service is ready: calls its addresses in turn until one is. Throws the failure of the last one.
 * The services ping PostgreSQL; the gateway has no store.
 * Keeps meta.ready.ping, meta.ready.down, meta.ready.recovers.
 */
export async function checkUpstream(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const tried = new Set<Address>();
  const checks: Promise<void>[] = [];
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let refusal: unknown = new Error(`${upstream.name} has no address`);
  const check = async (target: Address): Promise<void> => {
    try {
      await checkAddress(upstream.name, target, until);
    } catch (cause) {
      refusal = cause;
      throw cause;
    }
  };
  try {
    for (let target = upstream.pick(tried); target !== null; target = upstream.pick(tried)) {
      tried.add(target);
      checks.push(check(target));
      const later = sleep(NEXT_ADDRESS_MS, false, { signal: until }).catch(() => false);
      if (await Promise.race([isAnyReady(checks), later])) return;
    }
    if (!(await isAnyReady(checks))) throw refusal;
  } finally {
    over.abort();
  }
}

function isAnyReady(checks: readonly Promise<void>[]): Promise<boolean> {
  return Promise.any(checks).then(
    () => true,
    () => false,
  );
}

async function checkAddress(name: string, { pool }: Address, signal: AbortSignal): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: meta.ready.path, signal });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${name} answers ${statusCode}`);
}
