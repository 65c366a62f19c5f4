import { generateServiceKey, publicKeyOf } from '@wts/access';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CALLERS } from './services.ts';

/** The demo workspace that the seed created. */
export interface DemoWorkspace {
  readonly userId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  /** The account of its owner at the authorization origin. */
  readonly person: { readonly email: string; readonly password: string };
}

/** Created once per stack and stored, because the data and the issued keys outlive a start. */
export interface Secrets {
  readonly postgresPassword: string;
  readonly natsPassword: string;
  /** The private key of each service that calls others. */
  readonly serviceKeys: Readonly<Record<string, string>>;
  /** Recognizes repeated requests. */
  readonly replaySecret: string;
  readonly jwtSecret: string;
  /** Encrypts the signing secrets of webhook endpoints. */
  readonly webhookSecretKey: string;
  /** Encrypts the keys that sign access tokens. */
  readonly authSecretKey: string;
  /** The key of role passwords when the administrator of the server has no password. */
  readonly roleKey: string;
  /** Absent before the first seed. */
  readonly demo?: DemoWorkspace;
  /** The ports of the last start. The next start uses them again when they are free, so that URLs stay the same. */
  readonly postgresPort?: number;
  readonly natsPort?: number;
}

export function makeSecrets(): Secrets {
  const text = () => randomBytes(32).toString('base64url');
  return {
    postgresPassword: text(),
    natsPassword: text(),
    serviceKeys: makeServiceKeys(),
    replaySecret: text(),
    jwtSecret: text(),
    webhookSecretKey: randomBytes(32).toString('base64'),
    authSecretKey: randomBytes(32).toString('base64'),
    roleKey: text(),
  };
}

function makeServiceKeys(): Record<string, string> {
  return Object.fromEntries(CALLERS.map((name) => [name, generateServiceKey().privateKey]));
}

/** What a service gets of the keys: its own private key, if it calls others, and all public ones. */
export function tokenSettings(service: string, { serviceKeys }: Pick<Secrets, 'serviceKeys'>): Record<string, string> {
  const own = serviceKeys[service];
  const published = Object.entries(serviceKeys).map(([name, key]) => [name, [publicKeyOf(key)]]);
  return {
    ...(own === undefined ? {} : { INTERNAL_TOKEN_KEY: own }),
    INTERNAL_TOKEN_PUBLIC_KEYS: JSON.stringify(Object.fromEntries(published)),
  };
}

/** Stored by an earlier version, some are missing. */
export function readSecrets(file: string): Secrets {
  const made = makeSecrets();
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Partial<Secrets>;
    return { ...made, ...stored, serviceKeys: { ...made.serviceKeys, ...stored.serviceKeys } };
  } catch {
    return made;
  }
}

export function writeSecrets(file: string, secrets: Secrets): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A rename, because an incomplete file would lose the passwords of the data.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
