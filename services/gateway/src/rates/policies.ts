import { apiKeyApi, memberApi, syncApi } from '@wts/contracts';
import type { Contract } from '@wts/contracts';
import { WINDOW_MS_MAX } from './tally.ts';

/** How often something may happen. What counts is a request, or only one that was answered with a given status. */
export interface RatePolicy {
  /** Its name in the `RateLimit` headers and in the setting RATE_LIMITS. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * Whose requests are counted together. `address`: an IPv4 address or an IPv6 network of 64 bits. `caller`: an API key,
   * or a person, however many tokens they sign in with. `person`: all credentials of a person.
   */
  readonly per: 'address' | 'caller' | 'person';
  readonly appliesTo: (contract: Contract) => boolean;
  /** Only answers with these statuses count. Whoever makes no mistakes is then never counted. */
  readonly onStatus?: readonly number[];
}

const PLAIN_REST: readonly string[] = ['Workspaces', 'API keys', 'Webhooks'] satisfies Contract['tag'][];

/** Operations of the data itself, by the name their rates have. */
const SYNC_RATES: Readonly<Record<string, readonly Contract[]>> = {
  'sync.mutate': [syncApi.mutate],
  'sync.deltas': [syncApi.deltas],
  'sync.batch': [syncApi.batch],
  'sync.bootstrap': [syncApi.bootstrap, syncApi.bootstrapPost],
  'sync.socket': [syncApi.socket],
};

/**
 * The work of sync is shared out by person while there is more than it can do, so these are off: a bulk import is welcome
 * where nobody waits. An operator who wants a rate all the same sets one, for each person or for each network.
 */
const OPTIONAL: readonly RatePolicy[] = Object.entries(SYNC_RATES).flatMap(([name, operations]): RatePolicy[] => {
  const ids = operations.map(({ id }) => id);
  const common = { limit: 0, windowSeconds: 60, appliesTo: ({ id }: Contract) => ids.includes(id) };
  return [
    { ...common, name, per: 'person' },
    { ...common, name: `${name}.network`, per: 'address' },
  ];
});

/**
 * Every rate this door keeps, with its reason. Keeps limits.rate.rest, limits.rate.sync, limits.rate.codes and limits.rate.credentials.
 */
export const RATE_POLICIES: readonly RatePolicy[] = [
  {
    // Section 8 of the specification: per address, whatever the answer, before anybody is asked who calls.
    name: 'graphql',
    limit: 100,
    windowSeconds: 60,
    per: 'address',
    appliesTo: ({ tag, method }) => tag === 'GraphQL' && method === 'POST',
  },
  {
    // Far above any client that does something sensible; it ends a loop that runs away before others feel it.
    name: 'rest',
    limit: 30_000,
    windowSeconds: 60,
    per: 'caller',
    appliesTo: ({ tag }) => PLAIN_REST.includes(tag),
  },
  {
    // Codes have 192 bits; this keeps guessing from being work for the database all the same.
    name: 'codes',
    limit: 30,
    windowSeconds: 60,
    per: 'caller',
    appliesTo: ({ id }) => id === memberApi.joinWorkspace.id,
    onStatus: [403, 404, 410],
  },
  {
    // Signing up is free, so many callers may be one guesser. An office behind one address joins without mistakes.
    name: 'codes-address',
    limit: 300,
    windowSeconds: 60,
    per: 'address',
    appliesTo: ({ id }) => id === memberApi.joinWorkspace.id,
    onStatus: [403, 404, 410],
  },
  {
    // A person has at most 100 keys; making and revoking them all the time only fills the table.
    name: 'keys',
    limit: 120,
    windowSeconds: 60,
    per: 'person',
    appliesTo: ({ id }) => id === apiKeyApi.createApiKey.id,
  },
  ...OPTIONAL,
];

/**
 * Credentials refused to one address. It takes the place of a 401 and of nothing else: whoever has a good credential is
 * never shut out by a neighbor's bad ones.
 */
export const FAILED_CREDENTIALS: RatePolicy = {
  name: 'credentials',
  limit: 1000,
  windowSeconds: 60,
  per: 'address',
  appliesTo: ({ scope }) => scope !== 'none',
};

interface Rate {
  readonly limit: number;
  readonly windowSeconds?: number;
}

export type RateLimits = Readonly<Record<string, Rate>>;

/** `600`, or `600/60s`. */
const RATE = /^(\d{1,12})(?:\/(\d{1,6})s)?$/;

/**
 * Reads RATE_LIMITS: other rates for named policies, `rest=1000, sync.mutate=600/60s` or the same as a JSON object; 0
 * switches one off. Throws a sentence.
 */
export function parseRateLimits(text: string): RateLimits {
  const names = [...RATE_POLICIES, FAILED_CREDENTIALS].map(({ name }) => name);
  const rates: Record<string, Rate> = {};
  for (const [name, value] of pairsOf(text)) {
    if (!names.includes(name)) throw new Error(`knows ${names.join(', ')}, and no "${name}"`);
    const [, limit, seconds] = RATE.exec(value) ?? [];
    if (limit === undefined) throw new Error(`"${name}" must be a whole number such as 600 or 600/60s, 0 for no limit`);
    const windowSeconds = Number(seconds ?? 1);
    if (windowSeconds < 1 || windowSeconds * 1000 > WINDOW_MS_MAX) {
      throw new Error(`"${name}" must have a window of 1 to ${WINDOW_MS_MAX / 1000} seconds`);
    }
    rates[name] = { limit: Number(limit), ...(seconds === undefined ? {} : { windowSeconds }) };
  }
  return rates;
}

function pairsOf(text: string): [name: string, value: string][] {
  if (/^[{["\d]|^null$/.test(text)) {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('must be a JSON object');
    return Object.entries(value).map(([name, rate]) => [name, String(rate)]);
  }
  return text.split(',').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  });
}

/** Null when it is off. */
export function withLimit(policy: RatePolicy, limits: RateLimits): RatePolicy | null {
  const rate = { ...policy, ...limits[policy.name] };
  return rate.limit === 0 ? null : rate;
}
