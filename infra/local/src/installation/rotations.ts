import { generateServiceKey, parsePublicKeys, publicKeyOf } from '@wts/access';
import { NATS_USERS, natsPasswordVariable } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import { CALLERS, DATABASE_USERS, SERVICES, secretKey } from '../services.ts';
import { UserError } from '../user-error.ts';
import type { SecretValues } from './secrets-file.ts';

/** A change of the file; undefined takes a key out. */
type Change = Readonly<Record<string, string | undefined>>;
type Turn = (values: SecretValues) => Change;

/**
 * How a secret is changed while the installation serves. Each step is a file that all processes get before the next one: with that of
 * `add` they accept the new secret beside the old one, with that of `use` they use the new one, with that of `drop` they refuse
 * the old one. So a process with one file and one with the next always understand each other.
 */
export interface Rotation {
  readonly what: string;
  readonly add: Turn;
  readonly use: Turn;
  readonly drop: Turn;
  /** What has to be done besides giving all processes the file. */
  readonly also?: { readonly add?: string; readonly use?: string };
  /** The setting whose keys encrypt rows, which need them. */
  readonly seals?: string;
  /** How long the old secret is needed after all processes use the new one. */
  readonly keptMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PUBLIC_KEYS = 'INTERNAL_TOKEN_PUBLIC_KEYS';

/** Letters and digits, so that it may stand in an address and in a configuration of NATS, where one that begins with a digit is a number. */
export const newPassword = (): string => `p${randomBytes(24).toString('hex')}`;
export const newSecret = (): string => randomBytes(32).toString('base64url');
export const newEncryptionKey = (): string => randomBytes(32).toString('base64');

export const ROTATIONS: Readonly<Record<string, Rotation>> = {
  'internal-keys': { what: 'the key pairs by which services know each other', ...internalKeys(), keptMs: MINUTE_MS },
  replay: {
    what: 'REPLAY_SECRET of all services',
    ...ofLists(
      SERVICES.map(({ name }) => secretKey(name, 'REPLAY_SECRET')),
      newSecret,
    ),
    keptMs: 24 * HOUR_MS,
  },
  'webhook-key': {
    what: 'WEBHOOK_SECRET_KEY, which encrypts the secrets of endpoints',
    ...ofLists(['WEBHOOK_SECRET_KEY'], newEncryptionKey),
    seals: 'WEBHOOK_SECRET_KEY',
    keptMs: HOUR_MS,
  },
  'auth-key': {
    what: 'AUTH_SECRET_KEY, which encrypts signing keys, authenticator apps and mails',
    ...ofLists(['AUTH_SECRET_KEY'], newEncryptionKey),
    seals: 'AUTH_SECRET_KEY',
    keptMs: HOUR_MS,
  },
  issuers: {
    what: 'the secrets of issuers in JWT_ISSUERS',
    ...issuers(),
    also: { add: 'Then let each issuer sign with the last secret of its list in JWT_ISSUERS.' },
    keptMs: HOUR_MS,
  },
  database: {
    what: 'the passwords of the roles of PostgreSQL',
    ...passwords(databaseKeys),
    also: {
      use: 'At any time before the step "drop", give the roles their new passwords: npm run -s secrets -- sql < the new file | psql "$ADMIN_URL"',
    },
    keptMs: 0,
  },
  nats: {
    what: 'the passwords of the users of NATS',
    ...passwords(natsKeys),
    also: {
      use: 'At any time before the step "drop", restart the NATS servers one after the other with the new NATS_PASSWORD_*.',
    },
    keptMs: 0,
  },
};

function internalKeys(): Pick<Rotation, 'add' | 'use' | 'drop'> {
  const nextKey = (service: string): string => secretKey(service, 'INTERNAL_TOKEN_KEY').replace(/KEY$/, 'NEXT_KEY');
  const listed = (values: SecretValues): [string, string[]][] => {
    const text = required(values, PUBLIC_KEYS);
    parsePublicKeys(text);
    return Object.entries(JSON.parse(text) as Record<string, string[]>);
  };
  const publish = (lists: readonly (readonly [string, readonly string[]])[]): Change => ({
    [PUBLIC_KEYS]: JSON.stringify(Object.fromEntries(lists)),
  });
  return {
    add: (values) => {
      const next = CALLERS.map((name) => [name, generateServiceKey()] as const);
      const publicKeys = new Map(listed(values));
      return {
        ...publish(next.map(([name, { publicKey }]) => [name, [publicKeys.get(name)?.[0] ?? '', publicKey]])),
        ...Object.fromEntries(next.map(([name, { privateKey }]) => [nextKey(name), privateKey])),
      };
    },
    use: (values) =>
      Object.fromEntries(
        CALLERS.flatMap((name) => [
          [secretKey(name, 'INTERNAL_TOKEN_KEY'), required(values, nextKey(name))],
          [nextKey(name), undefined],
        ]),
      ),
    drop: (values) =>
      publish(CALLERS.map((name) => [name, [publicKeyOf(required(values, secretKey(name, 'INTERNAL_TOKEN_KEY')))]])),
  };
}

/** Settings that are lists, of which the first is used and all are accepted. */
function ofLists(keys: readonly string[], make: () => string): Pick<Rotation, 'add' | 'use' | 'drop'> {
  const each =
    (change: (list: readonly string[]) => readonly string[]): Turn =>
    (values) =>
      Object.fromEntries(
        keys
          .filter((key) => values[key] !== undefined)
          .map((key) => [key, change(required(values, key).split(',')).join(',')]),
      );
  return {
    add: each((list) => [...list, make()]),
    use: each((list) => [list.at(-1) ?? '', ...list.slice(0, -1)]),
    drop: each((list) => list.slice(0, 1)),
  };
}

interface Issuer {
  readonly secret?: string | readonly string[];
}

function issuers(): Pick<Rotation, 'add' | 'use' | 'drop'> {
  const each =
    (change: (secrets: readonly string[]) => readonly string[]): Turn =>
    (values) => {
      const all = JSON.parse(required(values, 'JWT_ISSUERS')) as Issuer[];
      if (all.every(({ secret }) => secret === undefined))
        throw new UserError('No issuer in JWT_ISSUERS has a secret.');
      const changed = all.map((issuer) => {
        if (issuer.secret === undefined) return issuer;
        const [secret, ...others] = change([issuer.secret].flat());
        return { ...issuer, secret: others.length === 0 ? secret : [secret, ...others] };
      });
      return { JWT_ISSUERS: JSON.stringify(changed) };
    };
  return {
    add: each((list) => [...list, newSecret()]),
    use: each((list) => list.toReversed()),
    drop: each((list) => list.slice(0, 1)),
  };
}

/** Where the password of one role, or of one user, is. */
interface PasswordKeys {
  /** Addresses that have it; those that the file lacks are left out. */
  readonly urls: readonly string[];
  /** Keys whose values are the password itself. */
  readonly plain: readonly string[];
  readonly other: string;
}

function databaseKeys(): readonly PasswordKeys[] {
  return DATABASE_USERS.map(({ name }) => ({
    urls: ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'DATABASE_REPLICA_URL'].map((variable) =>
      secretKey(name, variable),
    ),
    plain: [`${secretKey(name, 'DATABASE_URL').replace(/DATABASE_URL$/, '')}PGPASSWORD`],
    other: secretKey(name, 'DATABASE_OTHER_PASSWORD'),
  }));
}

function natsKeys(): readonly PasswordKeys[] {
  return NATS_USERS.map((user) => ({
    urls: [secretKey(user, 'NATS_URL')],
    plain: [natsPasswordVariable(user)],
    other: secretKey(user, 'NATS_OTHER_PASSWORD'),
  }));
}

/** The server accepts one password; the processes know both, so they connect whichever it is. */
function passwords(keysOf: () => readonly PasswordKeys[]): Pick<Rotation, 'add' | 'use' | 'drop'> {
  const each =
    (change: (values: SecretValues, keys: PasswordKeys) => Change): Turn =>
    (values) =>
      Object.assign(
        {},
        ...keysOf()
          .filter((keys) => passwordOf(values, keys) !== null)
          .map((keys) => change(values, keys)),
      ) as Change;
  return {
    add: each((_, { other }) => ({ [other]: newPassword() })),
    use: each((values, keys) => ({
      ...withPassword(values, keys, required(values, keys.other)),
      [keys.other]: passwordOf(values, keys) ?? undefined,
    })),
    drop: each((_, { other }) => ({ [other]: undefined })),
  };
}

function passwordOf(values: SecretValues, { urls, plain }: PasswordKeys): string | null {
  const [text] = plain.flatMap((key) => values[key] ?? []);
  if (text !== undefined) return text;
  const [url] = urls.flatMap((key) => values[key] ?? []);
  return url === undefined ? null : decodeURIComponent(new URL(url.split(',')[0] ?? '').password);
}

function withPassword(values: SecretValues, { urls, plain }: PasswordKeys, password: string): Change {
  const changed = (text: string): string =>
    text
      .split(',')
      .map((address) => {
        const url = new URL(address.trim());
        if (url.password !== '') url.password = encodeURIComponent(password);
        return url.href;
      })
      .join(',');
  const isThere = (key: string): boolean => values[key] !== undefined;
  return Object.fromEntries([
    ...urls.filter(isThere).map((key): [string, string] => [key, changed(values[key] ?? '')]),
    ...plain.filter(isThere).map((key): [string, string] => [key, password]),
  ]);
}

function required(values: SecretValues, key: string): string {
  const value = values[key];
  if (value === undefined || value === '') throw new UserError(`The file of secrets has no ${key}.`);
  return value;
}
