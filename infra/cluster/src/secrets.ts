import { NATS_USERS } from '@wts/contracts';
import { LOCAL_JWT, makeSecrets, secretKey, SERVICES, tokenSettings, type Secrets } from '@wts/local';
import type { SecretValues } from './manifest.ts';
import { SECOND } from './place.ts';
import { AUTH_KEYS_KEY, SECOND_NATS_KEY } from './render.ts';
import { natsUrl, type Stores } from './stores.ts';

/** The Secrets that the chart names, with the keys it has by default. */
export function secretValues(
  secrets: Secrets,
  stores: Stores,
  authorities: string,
  more: Readonly<Record<string, string>> = {},
): SecretValues {
  const jwt = { ...LOCAL_JWT, algorithms: ['HS256'], secret: secrets.jwtSecret };
  const { issuer, audience, ...others } = jwt;
  const own = SERVICES.flatMap(({ name, database }): [string, string][] => {
    const nats = NATS_USERS.find((user) => user === name);
    const settings = {
      REPLAY_SECRET: secrets.replaySecret,
      INTERNAL_TOKEN_KEY: secrets.serviceKeys[name],
      NATS_URL: nats && stores.natsUrlOf(nats, 'names'),
      ...(database && databaseUrls(stores, stores.database.urlOf(database.role))),
    };
    return Object.entries(settings).flatMap(([variable, value]) =>
      value === undefined ? [] : [[secretKey(name, variable), value]],
    );
  });
  return {
    'wts-secrets': {
      ...Object.fromEntries(own),
      INTERNAL_TOKEN_PUBLIC_KEYS: tokenSettings('sync', secrets)['INTERNAL_TOKEN_PUBLIC_KEYS'] ?? '',
      JWT_ISSUERS: JSON.stringify([{ issuer, audiences: [audience], ...others }]),
      AUTH_SECRET_KEY: secrets.authSecretKey,
      WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
      ...more,
    },
    'wts-ca': { 'ca.crt': authorities },
  };
}

/** The secrets of a second cell: all its own, but for the key of auth and what signs tokens of people. */
export function secondSecrets(first: Secrets): Secrets {
  const made = makeSecrets();
  const { auth } = first.serviceKeys;
  return { ...made, jwtSecret: first.jwtSecret, serviceKeys: { ...made.serviceKeys, ...(auth && { auth }) } };
}

/** What the first cell has for auth alone: the address of the NATS of the second cell, and the public keys of the services of both. */
export function secretsForCells(first: Secrets, second: Secrets): Readonly<Record<string, string>> {
  const [ours, theirs] = [first, second].map(
    (one) => JSON.parse(tokenSettings('sync', one)['INTERNAL_TOKEN_PUBLIC_KEYS'] ?? '') as Record<string, string[]>,
  );
  const both = Object.entries(ours ?? {}).map(([name, keys]) => [
    name,
    [...new Set([...keys, ...(theirs?.[name] ?? [])])],
  ]);
  return {
    [AUTH_KEYS_KEY]: JSON.stringify(Object.fromEntries(both)),
    [SECOND_NATS_KEY]: natsUrl(SECOND, second, 'auth', 'names'),
  };
}

/** Names that move: that of the primary at a promotion, and that of the replica. */
function databaseUrls({ primaryName, standbyName }: Stores, url: string) {
  const at = (hostname: string): string => Object.assign(new URL(url), { hostname }).href;
  return {
    DATABASE_URL: at(primaryName),
    DATABASE_REPLICA_URL: standbyName === null ? undefined : at(standbyName),
  };
}
