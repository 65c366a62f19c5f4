import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { EgressFailure, codeOf } from './failure.ts';
import type { EgressMetrics } from './metrics.ts';

export interface AddressResolver {
  /** Every address of a name, IPv4 first. Rejects with an `EgressFailure` (`dns_error`). */
  resolve(name: string): Promise<readonly string[]>;
}

interface ResolverOptions {
  /** `address` or `address:port`; none: those of the system. */
  readonly servers: readonly string[];
  readonly metrics?: Pick<EgressMetrics, 'nameResolved'>;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

interface Known {
  readonly untilMs: number;
  readonly addresses: readonly string[] | null;
}

interface Answer {
  readonly address: string;
  readonly ttl: number;
}

/** For a server that c-ares does not know; one that was quick has a quarter of a second at first, doubled with each try. */
const QUERY_TIMEOUT_MS = 2_000;
/** After quick answers two tries would be over in less than a second, which zones that are asked for the first time may take. */
const QUERY_TRIES = 4;
/** Over all servers and tries: half of what an attempt has. */
const RESOLVE_TIMEOUT_MS = 5_000;
/** What the other family may take longer; RFC 8305 has 50 ms, but a name may have addresses of one family only. */
const OTHER_FAMILY_MS = 300;
/** A change of addresses takes effect within a minute, whatever the TTL in the zone is. */
const POSITIVE_MS_MAX = 60_000;
/** A name that does not exist, and a server that did not answer. */
const [ABSENT_MS, UNANSWERED_MS] = [30_000, 5_000];
/**
 * Names asked for in a turn, and the time of a turn. A DNS server loses what comes faster than it reads (Linux buffers 256
 * datagrams), and after a restart hundreds of attempts begin at once.
 */
const [TURN_NAMES, TURN_MS] = [32, 5];
const CACHE_ENTRIES_MAX = 10_000;
const ABSENT_CODES = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Resolves names with c-ares, which waits for many servers at once: `dns.lookup` has four threads, so four zones that do
 * not answer would stop every delivery. It does not read /etc/hosts, which names machines that are not public.
 */
export function openResolver({ servers, metrics, now = () => performance.now() }: ResolverOptions): AddressResolver {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, maxTimeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const cache = new LRUCache<string, Known>({ max: CACHE_ENTRIES_MAX });
  const takeTurn = turns();
  const asked = new Map<string, Promise<readonly string[]>>();

  const remember = (name: string, addresses: readonly string[] | null, keptMs: number): void => {
    if (keptMs > 0) cache.set(name, { untilMs: now() + keptMs, addresses });
    else cache.delete(name);
  };

  const ask = async (name: string): Promise<readonly string[]> => {
    const startedMs = performance.now();
    try {
      await takeTurn();
      const answers = await askBoth(resolver, name);
      const ttlMs = Math.min(...answers.map(({ ttl }) => ttl * 1_000), POSITIVE_MS_MAX);
      const addresses = answers.map(({ address }) => address);
      remember(name, addresses, ttlMs);
      metrics?.nameResolved('found', performance.now() - startedMs);
      return addresses;
    } catch (error) {
      remember(name, null, ABSENT_CODES.has(codeOf(error)) ? ABSENT_MS : UNANSWERED_MS);
      metrics?.nameResolved('failed', performance.now() - startedMs);
      throw new EgressFailure('dns_error', `${name} has no address`, error);
    } finally {
      asked.delete(name);
    }
  };

  return {
    async resolve(name) {
      const known = cache.peek(name);
      if (known !== undefined && known.untilMs > now()) {
        metrics?.nameResolved('cached', 0);
        if (known.addresses !== null) return known.addresses;
        throw new EgressFailure('dns_error', `${name} had no address a moment ago`);
      }
      const running = asked.get(name) ?? ask(name);
      asked.set(name, running);
      return running;
    },
  };
}

/** Resolves at once, or in a later turn when this one is full. Counts turns, not time, because a stalled process would catch up. */
function turns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let left = TURN_NAMES;
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    const next = waiting.splice(0, TURN_NAMES);
    left = TURN_NAMES - next.length;
    timer = next.length > 0 ? setTimeout(begin, TURN_MS) : undefined;
    for (const start of next) start();
  };
  return async () => {
    timer ??= setTimeout(begin, TURN_MS);
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
}

/** What is wrong with the address of a DNS server, as the end of a sentence; null for nothing. */
export function refuseDnsServer(text: string): string | null {
  try {
    new Resolver().setServers([text]);
    return null;
  } catch {
    return `has ${text}, which is no address of a DNS server`;
  }
}

/** Both families, at least one address. */
async function askBoth(resolver: Resolver, name: string): Promise<readonly Answer[]> {
  const ended = new AbortController();
  const late = sleep(RESOLVE_TIMEOUT_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`no answer within ${RESOLVE_TIMEOUT_MS} ms`);
  });
  // The end of the wait rejects it too, when nothing awaits it any more.
  late.catch(() => undefined);
  const v4 = resolver.resolve4(name, { ttl: true });
  const v6 = resolver.resolve6(name, { ttl: true });
  const families = [v4, v6].map((family) => family.then(notEmpty));
  try {
    await Promise.race([Promise.any(families), late]).catch((error: unknown) => {
      throw error instanceof AggregateError ? worstOf(error.errors) : error;
    });
    const patience = sleep(OTHER_FAMILY_MS, [], { signal: ended.signal }).catch(() => []);
    const found = await Promise.all(families.map((family) => Promise.race([family.catch(() => []), patience])));
    return found.flat();
  } finally {
    ended.abort();
  }
}

function notEmpty(answers: readonly Answer[]): readonly Answer[] {
  if (answers.length === 0) throw Object.assign(new Error('an empty answer'), { code: 'ENODATA' });
  return answers;
}

/** A family without an answer may have addresses, so it is worse than one that has none. */
function worstOf(errors: readonly unknown[]): unknown {
  return errors.find((error) => !ABSENT_CODES.has(codeOf(error))) ?? errors[0];
}
