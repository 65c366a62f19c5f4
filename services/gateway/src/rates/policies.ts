import {
  authorizeApi,
  connectApi,
  contractsOf,
  factorApi,
  mcpApi,
  memberApi,
  oauthApi,
  pageApi,
  syncApi,
} from '@wts/contracts';
import type { Contract } from '@wts/contracts';
import { WINDOW_MS_MAX } from './tally.ts';

/** A rate limit. It counts requests, or only requests that were answered with a given status. */
export interface RatePolicy {
  /** Its name in the `RateLimit` headers and in the setting RATE_LIMITS. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /**
   * Which requests are counted together. `address`: an IPv4 address or an IPv6 network of 64 bits. `caller`: an API key,
   * what a person granted one OAuth client, or all sessions of a person. `person`: all credentials of a person.
   */
  readonly per: 'address' | 'caller' | 'person';
  readonly appliesTo: (contract: Contract) => boolean;
  /** Only answers with these statuses count. */
  readonly onStatus?: readonly number[];
}

const PLAIN_REST: readonly string[] = ['Workspaces', 'API keys', 'Webhooks'] satisfies Contract['tag'][];

/** Operations of sync, by the name of their rates. */
const SYNC_RATES: Readonly<Record<string, readonly Contract[]>> = {
  'sync.mutate': [syncApi.mutate],
  'sync.deltas': [syncApi.deltas],
  'sync.batch': [syncApi.batch],
  'sync.bootstrap': [syncApi.bootstrap, syncApi.bootstrapPost],
  'sync.socket': [syncApi.socket],
};

/**
 * Off by default: under load sync divides its work fairly between people, so a bulk import may use free capacity. An operator
 * can set a rate for each person or for each network.
 */
const OPTIONAL: readonly RatePolicy[] = Object.entries(SYNC_RATES).flatMap(([name, operations]): RatePolicy[] => {
  const common = { limit: 0, windowSeconds: 60, appliesTo: isOneOf(operations) };
  return [
    { ...common, name, per: 'person' },
    { ...common, name: `${name}.network`, per: 'address' },
  ];
});

/** All pages and forms for people that read the database. */
const PAGES = [pageApi, authorizeApi, connectApi, factorApi]
  .flatMap(contractsOf)
  .filter((one) => one.page && one !== pageApi.style && one !== factorApi.passkeyScript);

const MINUTE_OF_ADDRESS = { windowSeconds: 60, per: 'address' } as const;

/**
 * Every rate limit, with its reason. Keeps limits.rate.rest, limits.rate.sync, limits.rate.codes, limits.rate.credentials and
 * limits.rate.authorization.
 */
export const RATE_POLICIES: readonly RatePolicy[] = [
  {
    // Section 8 of the specification: per address, for every answer, before authentication. Keeps graphql.limit.rate.
    name: 'graphql',
    limit: 100,
    ...MINUTE_OF_ADDRESS,
    appliesTo: ({ tag, method }) => tag === 'GraphQL' && method === 'POST',
  },
  {
    // Far above the rate of a correct client; stops a client in an endless loop before it slows others down.
    name: 'rest',
    limit: 30_000,
    windowSeconds: 60,
    per: 'caller',
    appliesTo: ({ tag }) => PLAIN_REST.includes(tag),
  },
  {
    // Accounts are free, so many callers may be one attacker, and who is not signed in has only an address. People who join from one
    // office make few mistakes. The workspace service bounds the wrong codes of each person. The form of a page, which answers whether a
    // code is that of an invitation too, has the rate `passwords`.
    name: 'codes-address',
    limit: 300,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([memberApi.joinWorkspace, pageApi.joinPage]),
    onStatus: [403, 404, 410],
  },
  {
    // Each of these forms stores a password, which takes half a second of a core and 128 MB. The sign-in is not one of them: auth limits
    // it itself, because only auth recognizes the browser of an earlier sign-in, which no one in the same network keeps out.
    name: 'passwords',
    limit: 60,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([pageApi.join, pageApi.changePassword, pageApi.changeAddress, pageApi.useLink]),
  },
  {
    // A client registers once for each installation, without a credential, and each one is a row.
    name: 'register',
    limit: 30,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([oauthApi.register]),
  },
  {
    // Each of these stores a request that waits for the person, who allows a client once; its page is shown again after each mistake.
    name: 'authorize',
    limit: 120,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([
      authorizeApi.authorize,
      authorizeApi.authorizeForm,
      connectApi.connect,
      pageApi.providerSignIn,
    ]),
  },
  {
    // Each of these reads the database, and a page is made without a pause. A person opens a few a minute; many may share an address.
    name: 'pages',
    limit: 600,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf(PAGES),
  },
  {
    // A host of agents renews the tokens of all its people from one address, each every half hour.
    name: 'token',
    limit: 1000,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([oauthApi.token]),
  },
  {
    // A person connects a command line a few times a year. These look up secrets, and a code is counted also when it is wrong.
    name: 'connect',
    limit: 60,
    ...MINUTE_OF_ADDRESS,
    appliesTo: isOneOf([connectApi.exchangeCode, connectApi.endKey]),
  },
  {
    // Operators are few, and each request looks up a secret and reads whole tables.
    name: 'operator',
    limit: 600,
    ...MINUTE_OF_ADDRESS,
    appliesTo: ({ tag }) => tag === 'Operator',
  },
  {
    // Some tools cost as much as ten GraphQL operations; an agent uses a few of them a minute. A person may have hundreds of credentials.
    name: 'mcp',
    limit: 600,
    windowSeconds: 60,
    per: 'person',
    appliesTo: isOneOf([mcpApi.call]),
  },
  ...OPTIONAL,
];

/**
 * Refused credentials per address. Beyond the limit a 401 becomes 429; valid credentials of the same address are not affected.
 */
export const FAILED_CREDENTIALS: RatePolicy = {
  name: 'credentials',
  limit: 1000,
  ...MINUTE_OF_ADDRESS,
  appliesTo: ({ scope }) => scope !== 'none',
};

function isOneOf(contracts: readonly Contract[]): RatePolicy['appliesTo'] {
  const ids = contracts.map(({ id }) => id);
  return ({ id }) => ids.includes(id);
}

interface Rate {
  readonly limit: number;
  readonly windowSeconds?: number;
}

export type RateLimits = Readonly<Record<string, Rate>>;

/** `600`, or `600/60s`. */
const RATE = /^(\d{1,12})(?:\/(\d{1,6})s)?$/;

/**
 * Reads RATE_LIMITS: rates of named policies, `rest=1000, sync.mutate=600/60s` or the same as a JSON object; 0 turns a policy
 * off. Throws an error with one sentence.
 */
export function parseRateLimits(text: string): RateLimits {
  const names = [...RATE_POLICIES, FAILED_CREDENTIALS].map(({ name }) => name);
  const rates: Record<string, Rate> = {};
  for (const [name, value] of pairsOf(text)) {
    if (!names.includes(name)) throw new Error(`has no rate "${name}"; the rates are ${names.join(', ')}`);
    const [, limit, seconds] = RATE.exec(value) ?? [];
    if (limit === undefined) throw new Error(`"${name}" must be a whole number such as 600 or 600/60s, 0 for no limit`);
    const windowSeconds = Number(seconds ?? 1);
    if (windowSeconds < 1 || windowSeconds * 1000 > WINDOW_MS_MAX)
      throw new Error(`"${name}" must have a window of 1 to ${WINDOW_MS_MAX / 1000} seconds`);
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

/** The policy with its configured rate; null when it is off. */
export function withLimit(policy: RatePolicy, limits: RateLimits): RatePolicy | null {
  const rate = { ...policy, ...limits[policy.name] };
  return rate.limit === 0 ? null : rate;
}
