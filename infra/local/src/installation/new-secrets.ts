import { generateServiceKey } from '@wts/access';
import { NATS_USERS, natsPasswordVariable, natsUsername } from '@wts/contracts';
import { CALLERS, DATABASE_USERS, SERVICES, secretKey } from '../services.ts';
import { newEncryptionKey, newPassword, newSecret } from './rotations.ts';
import { scramVerifier } from './scram.ts';
import type { SecretValues } from './secrets-file.ts';

/** Addresses without users and passwords. */
export interface StoreAddresses {
  readonly database: string;
  readonly replica?: string | undefined;
  /** Several of one cluster are separated by commas. */
  readonly nats: string;
}

/** All secrets that an installation needs to start, new. */
export function newSecrets({ database, replica, nats }: StoreAddresses): SecretValues {
  const serviceKeys = CALLERS.map((name) => [name, generateServiceKey()] as const);
  const natsPasswords = new Map(NATS_USERS.map((user) => [user as string, newPassword()]));
  const values: Record<string, string> = {
    INTERNAL_TOKEN_PUBLIC_KEYS: JSON.stringify(
      Object.fromEntries(serviceKeys.map(([name, { publicKey }]) => [name, [publicKey]])),
    ),
    AUTH_SECRET_KEY: newEncryptionKey(),
    WEBHOOK_SECRET_KEY: newEncryptionKey(),
  };
  for (const [name, { privateKey }] of serviceKeys) values[secretKey(name, 'INTERNAL_TOKEN_KEY')] = privateKey;
  for (const { name, database: use, given } of SERVICES) {
    if (given.includes('REPLAY_SECRET')) values[secretKey(name, 'REPLAY_SECRET')] = newSecret();
    if (use !== undefined) {
      const user = { name: use.role, password: newPassword() };
      values[secretKey(name, 'DATABASE_URL')] = withUser(database, user);
      // The services that read a replica have the setting; the others ignore the key.
      if (replica !== undefined && READ_REPLICA.includes(name))
        values[secretKey(name, 'DATABASE_REPLICA_URL')] = withUser(replica, user);
    }
    const password = natsPasswords.get(name);
    if (password !== undefined) {
      const user = { name: natsUsername(name as (typeof NATS_USERS)[number]), password };
      const addresses = nats.split(',').map((address) => withUser(address.trim(), user));
      values[secretKey(name, 'NATS_URL')] = addresses.join(',');
    }
  }
  for (const user of NATS_USERS) values[natsPasswordVariable(user)] = natsPasswords.get(user) ?? '';
  return values;
}

/** The key with the public keys of all cells, which only the services have that are global. */
const PUBLIC_KEYS_OF_CELLS = 'AUTH_INTERNAL_TOKEN_PUBLIC_KEYS';

/**
 * The secrets of a further cell, and what the installation with auth then has besides: the public keys of the services of the cell, for
 * auth alone, and the address of its NATS. Only auth can call a service of another cell.
 */
export function cellSecrets(
  first: SecretValues,
  shard: number,
  addresses: StoreAddresses,
): { readonly cell: SecretValues; readonly first: SecretValues } {
  const globals = SERVICES.filter(({ isGlobal }) => isGlobal).map(({ name }) => name);
  const made = newSecrets(addresses);
  const isOfGlobal = (key: string): boolean => globals.some((name) => key.startsWith(`${name.toUpperCase()}_`));
  const keysOf = (values: SecretValues, key = PUBLIC_KEYS) =>
    JSON.parse(values[key] ?? '{}') as Record<string, string[]>;
  const ofFirst = keysOf(first);
  const ofCell = { ...keysOf(made), ...Object.fromEntries(globals.map((name) => [name, ofFirst[name] ?? []])) };
  const known = first[PUBLIC_KEYS_OF_CELLS] === undefined ? ofFirst : keysOf(first, PUBLIC_KEYS_OF_CELLS);
  const ofAll = Object.entries(known).map(([name, keys]) => [name, [...new Set([...keys, ...(ofCell[name] ?? [])])]]);
  return {
    cell: {
      ...Object.fromEntries(Object.entries(made).filter(([key]) => !isOfGlobal(key))),
      [PUBLIC_KEYS]: JSON.stringify(ofCell),
      ...(first['JWT_ISSUERS'] === undefined ? {} : { JWT_ISSUERS: first['JWT_ISSUERS'] }),
    },
    first: {
      ...first,
      [PUBLIC_KEYS_OF_CELLS]: JSON.stringify(Object.fromEntries(ofAll)),
      [`CELL_${shard}_NATS_URL`]: made[secretKey('auth', 'NATS_URL')] ?? '',
    },
  };
}

const PUBLIC_KEYS = 'INTERNAL_TOKEN_PUBLIC_KEYS';

const READ_REPLICA: readonly string[] = ['sync', 'graph'];

function withUser(address: string, { name, password }: { readonly name: string; readonly password: string }): string {
  const url = new URL(address);
  url.username = name;
  url.password = password;
  return url.href;
}

/** Gives the roles of PostgreSQL the passwords of the file, without the passwords themselves. */
export function passwordsSql(values: SecretValues): string {
  return DATABASE_USERS.flatMap(({ name }) => {
    const url = values[secretKey(name, 'DATABASE_URL')];
    if (url === undefined) return [];
    const { username, password } = new URL(url);
    return [`ALTER ROLE "${username}" PASSWORD '${scramVerifier(decodeURIComponent(password))}';\n`];
  }).join('');
}
