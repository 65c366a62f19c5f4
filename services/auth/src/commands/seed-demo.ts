import { generateApiKey, readApiKey } from '@wts/access';
import type { KeyPermissions } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { onFault } from '../domain/on-fault.ts';
import type { ApiKeyStore } from '../store/api-keys.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import { ACCOUNT_ISSUER, type AccountStore } from '../store/accounts.ts';
import type { IdentityStore } from '../store/identities.ts';
import { resolvePerson } from './resolve-person.ts';
import { AUTH_LIMITS } from '../limits.ts';

type SeedContext = Pick<Context, 'identities' | 'keys' | 'commitUnit'> & {
  readonly accounts: AccountStore;
  readonly passwords: PasswordHashes;
};

export interface DemoOwnerOptions {
  readonly apiKeyPrefix: string;
  readonly apiKey?: string | undefined;
  readonly readOnlyApiKey?: string | undefined;
  readonly issuer?: string | undefined;
  readonly password?: string | undefined;
}

export interface SeededOwner {
  readonly userId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  readonly person: { readonly email: string; readonly password: string } | null;
}

const HASH_MS = 30_000;
const OWNER = { issuer: 'local', subject: 'demo', name: 'Demo Owner', email: 'demo@example.com' } as const;

/** Creates what is missing: any number of runs, also in parallel, end with one person and the given keys. */
export async function seedDemo(context: SeedContext, options: DemoOwnerOptions): Promise<SeededOwner> {
  const userId = await resolvePerson({ ...context, metrics: { personCreated: () => {} } }, OWNER);
  if (options.issuer !== undefined) await link(context.identities, { issuer: options.issuer, subject: userId }, userId);
  if (options.password !== undefined) await demoAccount(context, userId, options.password);
  const owner = { userId, apiKeyPrefix: options.apiKeyPrefix };
  return {
    userId,
    apiKey: await demoKey(context.keys, { ...owner, permissions: 'full-access', token: options.apiKey }),
    readOnlyApiKey: await demoKey(context.keys, { ...owner, permissions: 'read-only', token: options.readOnlyApiKey }),
    person: options.password === undefined ? null : { email: OWNER.email, password: options.password },
  };
}

async function link(
  identities: IdentityStore,
  identity: { readonly issuer: string; readonly subject: string },
  userId: string,
): Promise<void> {
  await identities.claim(identity, userId, { email: OWNER.email, emailVerified: true });
  await identities.markPersonCreated(identity);
}

/** The account with which the owner signs in. It gets the given password when it has another one. */
async function demoAccount(context: SeedContext, userId: string, password: string): Promise<void> {
  const { accounts, passwords, identities } = context;
  const sender = { network: '', signal: AbortSignal.timeout(HASH_MS) };
  const { name, email } = OWNER;
  if ((await accounts.findByEmail(email)) === null) {
    const passwordHash = await passwords.hash(password, sender);
    const id = randomUUID();
    await accounts.insert({ id, comparableEmail: email, email, name, emailVerified: true, passwordHash });
  }
  const account = await accounts.findByEmail(email);
  if (account === null) throw new Error('An account vanished between its creation and its reading');
  await link(identities, { issuer: ACCOUNT_ISSUER, subject: account.id }, userId);
  if (await passwords.verify(password, account.passwordHash, sender)) return;
  const to = await passwords.hash(password, sender);
  await accounts.changePassword(account.id, { from: account.passwordHash, to });
}

interface DemoKeyOptions {
  readonly apiKeyPrefix: string;
  readonly userId: string;
  readonly permissions: KeyPermissions;
  readonly token: string | undefined;
}

/** Returns the given token when it is a key of the owner or can become one; otherwise the token of a new key. */
async function demoKey(
  keys: ApiKeyStore,
  { apiKeyPrefix, userId, permissions, token: given }: DemoKeyOptions,
): Promise<string> {
  const read = given === undefined ? null : readApiKey(given, apiKeyPrefix);
  const candidates = [
    ...(given === undefined || read === null ? [] : [{ token: given, ...read }]),
    generateApiKey(apiKeyPrefix),
  ];
  for (const { token, ...candidate } of candidates) {
    let stored = await keys.findLive(candidate.hash);
    if (stored === null) {
      await insertUnlessStored(keys, userId, permissions, candidate);
      stored = await keys.findLive(candidate.hash);
    }
    if (stored?.userId === userId && stored.permissions === permissions) return token;
  }
  throw new Error(`The demo owner has ${AUTH_LIMITS.apiKeysPerPersonMax} API keys already; revoke some`);
}

/** Does nothing for a token that was revoked, belongs to another person, or was inserted by a parallel run. */
async function insertUnlessStored(
  keys: ApiKeyStore,
  userId: string,
  permissions: KeyPermissions,
  { hash, keyPrefix }: { readonly hash: string; readonly keyPrefix: string },
): Promise<void> {
  const label = permissions === 'full-access' ? 'demo' : 'demo, read-only';
  const key = { id: randomUUID(), userId, label, keyPrefix, tokenHash: hash, permissions };
  const free = { workspaceId: null, expiresAt: null, madeBy: null, madeByKey: null };
  await keys.insert({ ...key, ...free }, AUTH_LIMITS.apiKeysPerPersonMax).catch(onFault('conflict', null));
}
