import { apiKeyApi, memberApi } from '@wts/contracts';
import type { Contract } from '@wts/contracts';

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

/**
 * Every rate this door keeps, with its reason. Sync routes have bounds of their own (queues that say when they are full)
 * and none here. Keeps limits.rate.rest, limits.rate.codes and limits.rate.credentials.
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

export type RateLimits = Readonly<Record<string, number>>;

/** Reads RATE_LIMITS: other numbers for named policies; 0 switches one off. Throws a sentence. */
export function parseRateLimits(json: string): RateLimits {
  const value = JSON.parse(json) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('must be a JSON object');
  const names = [...RATE_POLICIES, FAILED_CREDENTIALS].map(({ name }) => name);
  for (const [name, limit] of Object.entries(value)) {
    if (!names.includes(name)) throw new Error(`knows ${names.join(', ')}, and no "${name}"`);
    if (!Number.isSafeInteger(limit) || limit < 0) throw new Error(`"${name}" must be a whole number, 0 for no limit`);
  }
  return value as RateLimits;
}

/** Null when the operator switched it off. */
export function withLimit(policy: RatePolicy, limits: RateLimits): RatePolicy | null {
  const limit = limits[policy.name] ?? policy.limit;
  return limit === 0 ? null : { ...policy, limit };
}
