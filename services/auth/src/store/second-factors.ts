import { Fault } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { SealedSecret } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import { ACCOUNT_ISSUER } from './accounts.ts';
import { DELETED_AT_ONCE, deleteSome } from './delete-some.ts';

export interface Passkey {
  readonly id: string;
  readonly accountId: string;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface NewPasskey extends Pick<
  Passkey,
  'id' | 'accountId' | 'credentialId' | 'publicKey' | 'transports' | 'name'
> {
  readonly signCount: number;
}

/** What an account has besides its password. */
export interface FactorsOfAccount {
  readonly passkeys: readonly Passkey[];
  /** When the authenticator app was set up; null without one. */
  readonly totpSince: Date | null;
  readonly recoveryCodesLeft: number;
}

/** The second factors of accounts. What is used once is used by one statement, so that of several attempts on any replicas one succeeds. */
export interface SecondFactorStore {
  of(accountId: string): Promise<FactorsOfAccount>;
  /** Until the transaction ends, others that change the factors of the account wait, so that each finds what the one before left. */
  lock(accountId: string): Promise<void>;
  has(accountId: string): Promise<boolean>;
  /** Whether a person can sign in here by a password alone. */
  lacks(userId: string): Promise<boolean>;
  /**
   * Whether the operator or a workspace requires a second factor of a person who has none. Rejects with `unavailable` for the cell that asks
   * when it does not say here in which workspaces they are, and some of its workspaces require one. Keeps authentication.factors.away.
   */
  isMissing(userId: string, shard: number): Promise<boolean>;
  /** Whether one is required of a person, whatever they have. `surely`: rejects as above, whichever cell does not answer. */
  isRequired(userId: string, surely?: 'surely'): Promise<boolean>;
  findPasskey(credentialId: Buffer): Promise<Passkey | null>;
  /** False when the authenticator is registered already, or the account has `most` of them. */
  addPasskey(passkey: NewPasskey, most: number): Promise<boolean>;
  /** False when the counter did not advance, so that the passkey may be a copy. An authenticator without a counter always sends 0. */
  usePasskey(id: string, signCount: number): Promise<boolean>;
  /** Removes a passkey, or without an id the authenticator app; with the last factor also the recovery codes. For a transaction. */
  remove(accountId: string, passkeyId: string | null): Promise<Removal>;
  /** The app of an account, with the time of the database. */
  findTotp(accountId: string): Promise<(SealedSecret & { readonly atSeconds: number }) | null>;
  /** Replaces the one before. */
  setTotp(accountId: string, totp: SealedSecret, usedStep: number): Promise<void>;
  /** False when a code of this time step, or of a later one, was used. */
  useTotp(accountId: string, step: number): Promise<boolean>;
  /** In place of all codes before. */
  setRecoveryCodes(accountId: string, hashes: readonly Buffer[]): Promise<void>;
  useRecoveryCode(accountId: string, hash: Buffer): Promise<boolean>;
  /** The time of the database. */
  now(): Promise<number>;
  /** False when the challenge was used or has expired. */
  useChallenge(hash: Buffer, expiresAtSeconds: number): Promise<boolean>;
}

/** The setting SECOND_FACTOR: whether everyone who has an account needs a second factor. */
export type FactorRule = 'optional' | 'required';

/** `last`: it was the only one. */
type Removal = 'removed' | 'last' | 'unknown';

/** Whether an account, whose id is SQL, has a second factor. */
export function hasFactorSql(accountId: string): string {
  return `(exists (select from auth.passkeys where account_id = ${accountId})
    or exists (select from auth.totp where account_id = ${accountId}))`;
}

/**
 * Whether a person, whose id is SQL, can sign in by a password alone. People of an identity provider cannot: their second factor is the
 * business of the provider.
 */
export function lacksFactorSql(userId: string): string {
  // `case`, because subjects of other issuers are no ids, and PostgreSQL may convert them before it compares the issuer.
  return `exists (select from auth.identities i
    join auth.accounts a on a.id = case when i.issuer = '${ACCOUNT_ISSUER}' then cast(i.subject as uuid) end
    where i.user_id = ${userId} and not ${hasFactorSql('a.id')})`;
}

const PASSKEY = `p.id, p.account_id as "accountId", p.credential_id as "credentialId", p.public_key as "publicKey", p.transports,
  p.name, p.created_at as "createdAt", p.last_used_at as "lastUsedAt"`;

export interface FactorOptions {
  readonly secondFactor?: FactorRule;
  /** The workspaces of a person, which other services know, and the cells that do not answer. */
  readonly workspacesOf: (
    userId: string,
  ) => Promise<{ readonly ids: readonly string[]; readonly away: readonly number[] }>;
}

/** A workspace requires a second factor of its members. Most installations have none, and ask for no memberships. */
const IS_REQUIRED_SOMEWHERE = `exists (select from auth.workspace_policies where requires_second_factor)`;
const IS_REQUIRED_IN = `exists (select from auth.workspace_policies
  where requires_second_factor and workspace_id = any(cast(:workspaces as uuid[])))`;
const IS_REQUIRED_AT = `exists (select from auth.workspace_policies join auth.workspace_cells using (workspace_id)
  where requires_second_factor and shard = any(cast(:shards as int[])))`;

export function secondFactorStore(
  knex: Knex,
  { secondFactor = 'optional', workspacesOf }: FactorOptions,
): SecondFactorStore {
  const isTrue = async (
    condition: string,
    values: Readonly<Record<string, string | readonly string[]>> = {},
  ): Promise<boolean> =>
    (await firstRow<{ isTrue: boolean }>(knex, `select ${condition} as "isTrue"`, values))?.isTrue === true;
  const isForAll = secondFactor === 'required';
  const mayBeRequired = isForAll ? 'true' : IS_REQUIRED_SOMEWHERE;
  const isRequiredOf = async (userId: string, isAsking: (shard: number) => boolean): Promise<boolean> => {
    if (isForAll) return true;
    const { ids, away } = await workspacesOf(userId);
    if (await isTrue(IS_REQUIRED_IN, { workspaces: ids })) return true;
    const shards = away.filter(isAsking).map(String);
    // Otherwise a credential without the factor that is required of it would open the workspace while its cell answers all but auth.
    if (shards.length > 0 && (await isTrue(IS_REQUIRED_AT, { shards }))) throw new Fault('unavailable');
    return false;
  };
  return {
    of: (accountId) => factorsOf(knex, accountId),
    lock: (accountId) => lockAccount(knex, accountId),
    has: (accountId) => isTrue(hasFactorSql(':accountId'), { accountId }),
    lacks: (userId) => isTrue(lacksFactorSql(':userId'), { userId }),
    isMissing: async (userId, asking) =>
      (await isTrue(`${lacksFactorSql(':userId')} and ${mayBeRequired}`, { userId })) &&
      isRequiredOf(userId, (shard) => shard === asking),
    isRequired: async (userId, surely) =>
      (await isTrue(mayBeRequired)) && isRequiredOf(userId, () => surely !== undefined),
    ...passkeyRows(knex),
    ...totpRows(knex),
    remove: (accountId, passkeyId) => removeFactor(knex, accountId, passkeyId),
    setRecoveryCodes: async (accountId, hashes) => {
      const sql = `with gone as (delete from auth.recovery_codes where account_id = :accountId)
        insert into auth.recovery_codes (account_id, code_hash)
        select :accountId, decode(hash, 'hex') from unnest(cast(:hashes as text[])) hash`;
      await rows(knex, sql, { accountId, hashes: hashes.map((hash) => hash.toString('hex')) });
    },
    useRecoveryCode: async (accountId, hash) => {
      const sql = `update auth.recovery_codes set used_at = now()
        where account_id = :accountId and code_hash = :hash and used_at is null returning account_id`;
      return (await rows(knex, sql, { accountId, hash })).length > 0;
    },
    now: async () => {
      const [clock] = await rows<{ at: number }>(knex, `select extract(epoch from now())::float8 as at`);
      if (clock === undefined) throw new Error('a select without a table has one row');
      return clock.at;
    },
    // Index used_challenges (expires_at).
    useChallenge: async (hash, expiresAtSeconds) => {
      const sql = `insert into auth.used_challenges (hash, expires_at) select :hash, to_timestamp(:expiresAtSeconds)
        where to_timestamp(:expiresAtSeconds) > now() on conflict (hash) do nothing returning hash`;
      const isFirst = (await rows(knex, sql, { hash, expiresAtSeconds })).length > 0;
      const ended = { where: 'expires_at <= now()', oldestBy: 'expires_at', most: DELETED_AT_ONCE };
      await deleteSome(knex, { table: 'used_challenges', key: 'hash', ...ended });
      return isFirst;
    },
  };
}

/** Index passkeys (account_id). */
export async function factorsOf(knex: Knex, accountId: string): Promise<FactorsOfAccount> {
  const listed = `select ${PASSKEY} from auth.passkeys p where p.account_id = :accountId order by p.created_at, p.id`;
  const passkeys = await rows<Passkey>(knex, listed, { accountId });
  const sql = `select (select created_at from auth.totp where account_id = :accountId) as "totpSince",
    (select count(*)::int from auth.recovery_codes where account_id = :accountId and used_at is null) as "recoveryCodesLeft"`;
  const other = await firstRow<Omit<FactorsOfAccount, 'passkeys'>>(knex, sql, { accountId });
  return { passkeys, totpSince: other?.totpSince ?? null, recoveryCodesLeft: other?.recoveryCodesLeft ?? 0 };
}

async function lockAccount(knex: Knex, accountId: string): Promise<void> {
  await rows(knex, `select id from auth.accounts where id = :accountId for update`, { accountId });
}

async function removeFactor(knex: Knex, accountId: string, passkeyId: string | null): Promise<Removal> {
  await lockAccount(knex, accountId);
  const removal =
    passkeyId === null
      ? `delete from auth.totp where account_id = :accountId returning account_id`
      : `delete from auth.passkeys where id = :passkeyId and account_id = :accountId returning account_id`;
  const values = passkeyId === null ? { accountId } : { accountId, passkeyId };
  if ((await rows(knex, removal, values)).length === 0) return 'unknown';
  const left = `select where ${hasFactorSql(':accountId')}`;
  if ((await rows(knex, left, { accountId })).length > 0) return 'removed';
  await rows(knex, `delete from auth.recovery_codes where account_id = :accountId`, { accountId });
  return 'last';
}

/** Of an account that is locked. */
export async function removeAllFactors(knex: Knex, accountId: string): Promise<void> {
  for (const table of ['passkeys', 'totp', 'recovery_codes'])
    await rows(knex, `delete from auth.${table} where account_id = :accountId`, { accountId });
}

function passkeyRows(knex: Knex): Pick<SecondFactorStore, 'findPasskey' | 'addPasskey' | 'usePasskey'> {
  return {
    // Unique index passkeys (credential_id).
    findPasskey: (credentialId) =>
      firstRow(knex, `select ${PASSKEY} from auth.passkeys p where p.credential_id = :credentialId`, { credentialId }),
    addPasskey: async ({ id, accountId, credentialId, publicKey, transports, name, signCount }, most) => {
      const sql = `insert into auth.passkeys (id, account_id, credential_id, public_key, sign_count, transports, name)
        select :id, :accountId, :credentialId, :publicKey, :signCount, :transports, :name
        where (select count(*) from auth.passkeys where account_id = :accountId) < :most
        on conflict (credential_id) do nothing returning id`;
      const values = { id, accountId, credentialId, publicKey, signCount, transports, name, most };
      return (await rows(knex, sql, values)).length > 0;
    },
    usePasskey: async (id, signCount) => {
      const sql = `update auth.passkeys set sign_count = :signCount, last_used_at = now()
        where id = :id and (sign_count < :signCount or (sign_count = 0 and :signCount = 0)) returning id`;
      return (await rows(knex, sql, { id, signCount })).length > 0;
    },
  };
}

function totpRows(knex: Knex): Pick<SecondFactorStore, 'findTotp' | 'setTotp' | 'useTotp'> {
  return {
    findTotp: (accountId) => {
      const sql = `select secret as sealed, sealed_with as "keyId", extract(epoch from now())::float8 as "atSeconds"
        from auth.totp where account_id = :accountId`;
      return firstRow(knex, sql, { accountId });
    },
    setTotp: async (accountId, { sealed, keyId }, usedStep) => {
      const sql = `insert into auth.totp (account_id, secret, sealed_with, last_step)
        values (:accountId, :sealed, :keyId, :usedStep)
        on conflict (account_id) do update set secret = excluded.secret, sealed_with = excluded.sealed_with,
          last_step = excluded.last_step, created_at = now()`;
      await rows(knex, sql, { accountId, sealed, keyId, usedStep });
    },
    useTotp: async (accountId, step) => {
      const sql = `update auth.totp set last_step = :step where account_id = :accountId and last_step < :step returning account_id`;
      return (await rows(knex, sql, { accountId, step })).length > 0;
    },
  };
}
