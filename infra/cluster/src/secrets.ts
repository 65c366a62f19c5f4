import { NATS_USERS } from '@wts/contracts';
import { LOCAL_JWT, SERVICES, tokenSettings, type Secrets } from '@wts/local';
import type { SecretValues } from './manifest.ts';
import type { Stores } from './stores.ts';

/** The Secrets that the chart names, with the keys it has by default. */
export function secretValues(secrets: Secrets, stores: Stores, authorities: string): SecretValues {
  const jwt = { ...LOCAL_JWT, algorithms: ['HS256'], secret: secrets.jwtSecret };
  const { issuer, audience, ...others } = jwt;
  const own = SERVICES.flatMap(({ name, database }): [string, string][] => {
    const prefix = name.toUpperCase().replaceAll('-', '_');
    const nats = NATS_USERS.find((user) => user === name);
    const { INTERNAL_TOKEN_KEY: key } = tokenSettings(name, secrets);
    return [
      [`${prefix}_REPLAY_SECRET`, secrets.replaySecret],
      ...(key === undefined ? [] : [[`${prefix}_INTERNAL_TOKEN_KEY`, key] as [string, string]]),
      ...(nats === undefined ? [] : [[`${prefix}_NATS_URL`, stores.natsUrlOf(nats, 'names')] as [string, string]]),
      ...(database === undefined ? [] : databaseUrls(prefix, stores.database.urlOf(database.role))),
    ];
  });
  return {
    'wts-secrets': {
      ...Object.fromEntries(own),
      INTERNAL_TOKEN_PUBLIC_KEYS: tokenSettings('sync', secrets)['INTERNAL_TOKEN_PUBLIC_KEYS'] ?? '',
      JWT_ISSUERS: JSON.stringify([{ issuer, audiences: [audience], ...others }]),
      AUTH_SECRET_KEY: secrets.authSecretKey,
      WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
    },
    'wts-ca': { 'ca.crt': authorities },
  };
}

/** Names that move: that of the primary at a promotion, and that of the replica. */
function databaseUrls(prefix: string, url: string): [string, string][] {
  const at = (host: string): string => {
    const named = new URL(url);
    named.hostname = host;
    return named.href;
  };
  return [
    [`${prefix}_DATABASE_URL`, at('postgres-rw')],
    [`${prefix}_DATABASE_REPLICA_URL`, at('postgres-ro')],
  ];
}
