import { setTimeout as sleep } from 'node:timers/promises';
import { meta } from '@wts/contracts';
import type { Address } from '@wts/service-kit/call';
import type { Upstream } from './upstream.ts';

/** An address that has not answered by then is waited for beside the next one: a process that hangs is not the service. */
const BESIDE_MS = 300;

/**
 * Asks a service whether it is ready, at its addresses in turn until one says yes. Throws what the last one said.
 * The services ping PostgreSQL; the gateway holds no store of its own to ask.
 * Keeps meta.ready.ping, meta.ready.down, meta.ready.recovers.
 */
export async function checkUpstream(upstream: Upstream, signal: AbortSignal): Promise<void> {
  const tried = new Set<Address>();
  const asked: Promise<void>[] = [];
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let refusal: unknown = new Error(`${upstream.name} has no address`);
  const ask = async (target: Address): Promise<void> => {
    try {
      await askAddress(upstream.name, target, until);
    } catch (cause) {
      refusal = cause;
      throw cause;
    }
  };
  try {
    for (let target = upstream.pick(tried); target !== null; target = upstream.pick(tried)) {
      tried.add(target);
      asked.push(ask(target));
      const later = sleep(BESIDE_MS, false, { signal: until }).catch(() => false);
      if (await Promise.race([isAnyReady(asked), later])) return;
    }
    if (!(await isAnyReady(asked))) throw refusal;
  } finally {
    over.abort();
  }
}

function isAnyReady(asked: readonly Promise<void>[]): Promise<boolean> {
  return Promise.any(asked).then(
    () => true,
    () => false,
  );
}

async function askAddress(name: string, { pool }: Address, signal: AbortSignal): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: meta.ready.path, signal });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${name} answers ${statusCode}`);
}
