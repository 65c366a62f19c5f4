import { LIMITS, type ApiKey, type KeyMaker, type KeyPermissions } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';
import { deleteSome } from './delete-some.ts';
import { isEnabledSql } from './disabled-people.ts';

export interface NewStoredKey {
  readonly id: string;
  readonly userId: string;
  readonly label: string;
  readonly keyPrefix: string;
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string;
  readonly permissions: KeyPermissions;
  readonly workspaceId: string | null;
  readonly expiresAt: Date | null;
  readonly madeBy: 'session' | 'api_key' | null;
  /** With `api_key`. */
  readonly madeByKey: string | null;
}

/** Why a key was not created. */
export type KeyInsertRefusal = 'too_many' | 'too_fast' | 'maker_revoked';

export type RevokedKey = Pick<NewStoredKey, 'id' | 'userId' | 'label' | 'keyPrefix' | 'workspaceId'>;

type LiveKey = Pick<NewStoredKey, 'id' | 'userId' | 'permissions' | 'workspaceId' | 'expiresAt'>;

/** The store never receives the token: keeps api-keys.token.stored-hashed. */
export interface ApiKeyStore {
  /**
   * Refuses to create more than `activeMax` live keys of a person, more than `perMinuteMax` within a minute, also of keys
   * that are revoked already, or one by a revoked key. At that number, keys that have expired are revoked first. When a key with this id exists,
   * because the answer of an earlier attempt was lost, the new token replaces its token, which was never shown.
   */
  insert(key: NewStoredKey, activeMax: number): Promise<ApiKey | KeyInsertRefusal>;
  /** The keys of a person that are not revoked, newest first. */
  listOf(userId: string): Promise<ApiKey[]>;
  /** The keys of all people that are limited to this workspace. */
  listIn(workspaceId: string): Promise<ApiKey[]>;
  /** Revokes a key of the person, or one limited to one of these workspaces. Returns nothing when there is none, or it is revoked already. */
  revoke(userId: string, id: string, workspaces: readonly string[]): Promise<RevokedKey[]>;
  /** Revokes a key of the person, the keys created with it, the keys created with these and so on. */
  revokeWithMade(userId: string, id: string): Promise<RevokedKey[]>;
  /** Null when the key is unknown, revoked or expired, or its person is disabled, without a difference. */
  findLive(tokenHash: string): Promise<LiveKey | null>;
  /** Writes that keys were just used, except keys whose use was written within `intervalMs`. */
  recordUse(ids: readonly string[], intervalMs: number): Promise<void>;
  /** Deletes keys that were revoked long ago, unless a key created with them is stored, which shows them and is revoked with them. */
  deleteRevoked(): Promise<number>;
}

interface KeyRow
  extends
    Omit<ApiKey, 'expiresAt' | 'createdAt' | 'lastUsedAt' | 'createdBy'>,
    Pick<NewStoredKey, 'madeBy' | 'expiresAt'> {
  readonly makerId: string | null;
  readonly makerPrefix: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Any constant: keeps the locks of people apart from other advisory locks. */
const CREATE_LOCK = 7_368_032;
const REVOKED_KEY = `id, user_id as "userId", label, key_prefix as "keyPrefix", workspace_id as "workspaceId"`;
const COLUMNS = `k.id, k.user_id as "userId", k.label, k.key_prefix as "keyPrefix", k.permissions,
  k.workspace_id as "workspaceId", k.expires_at as "expiresAt", k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt", k.made_by as "madeBy", k.made_by_key as "makerId",
  (select maker.key_prefix from auth.api_keys maker where maker.id = k.made_by_key) as "makerPrefix"`;

export function apiKeyStore(knex: Knex, perMinuteMax: number = LIMITS.apiKeysPerMinuteMax): ApiKeyStore {
  return {
    insert: (key, activeMax) => insertKey(knex, key, { activeMax, perMinuteMax }),
    // Index api_keys (user_id, created_at).
    listOf: async (userId) => {
      const sql = `select ${COLUMNS} from auth.api_keys k where k.user_id = :userId and k.revoked_at is null
        order by k.created_at desc, k.id`;
      return (await rows<KeyRow>(knex, sql, { userId })).map((row) => keyReply(row, 'full'));
    },
    // Index api_keys (workspace_id).
    listIn: async (workspaceId) => {
      const sql = `select ${COLUMNS} from auth.api_keys k
        where k.workspace_id = :workspaceId and k.revoked_at is null order by k.created_at desc, k.id`;
      return (await rows<KeyRow>(knex, sql, { workspaceId })).map((row) => keyReply(row, 'for_owners'));
    },
    revoke: (userId, id, workspaces) => {
      const sql = `update auth.api_keys k set revoked_at = clock_timestamp()
        where id = :id and revoked_at is null and (user_id = :userId or workspace_id = any(cast(:workspaces as uuid[])))
        returning ${REVOKED_KEY}`;
      return rows<RevokedKey>(knex, sql, { id, userId, workspaces });
    },
    revokeWithMade: (userId, id) => revokeKeyWithMade(knex, userId, id),
    // Unique index api_keys (token_hash).
    findLive: (tokenHash) => {
      const sql = `select id, user_id as "userId", permissions, workspace_id as "workspaceId", expires_at as "expiresAt"
        from auth.api_keys k where token_hash = :hash and revoked_at is null
          and (expires_at is null or expires_at > now()) and ${isEnabledSql('k.user_id')}`;
      return firstRow(knex, sql, { hash: Buffer.from(tokenHash, 'hex') });
    },
    recordUse: async (ids, intervalMs) => {
      const sql = `update auth.api_keys set last_used_at = now()
        where id = any(:ids) and (last_used_at is null or last_used_at < now() - make_interval(secs => :seconds))`;
      await rows(knex, sql, { ids, seconds: intervalMs / 1000 });
    },
    // Indexes api_keys (revoked_at) and (made_by_key).
    deleteRevoked: () => {
      const where = `t.revoked_at < now() - make_interval(secs => :kept)
        and not exists (select from auth.api_keys made where made.made_by_key = t.id)`;
      return deleteSome(knex, { table: 'api_keys', where }, { kept: AUTH_LIMITS.apiKeyRevokedKeptMs / 1000 });
    },
  };
}

/**
 * Parallel creations of one person take turns, so that each counts what the ones before have created. Locks the creating key, so that
 * a revocation of all keys created with it runs before this or finds the new key.
 */
function insertKey(
  knex: Knex,
  { tokenHash, ...key }: NewStoredKey,
  { activeMax, perMinuteMax }: { readonly activeMax: number; readonly perMinuteMax: number },
): Promise<ApiKey | KeyInsertRefusal> {
  return knex.transaction(async (transaction) => {
    const turn = `select pg_advisory_xact_lock(:lock::int, hashtext(:userId))`;
    await rows(transaction, turn, { lock: CREATE_LOCK, userId: key.userId });
    const maker = `select id from auth.api_keys where id = :madeByKey and revoked_at is null for share`;
    if (key.madeByKey !== null && (await rows(transaction, maker, key)).length === 0) return 'maker_revoked';
    // Index api_keys (user_id, created_at).
    const recent = `select count(*)::int as made from auth.api_keys
      where user_id = :userId and created_at > now() - interval '1 minute' and id <> :id`;
    const [{ made: madeRecently } = { made: 0 }] = await rows<{ made: number }>(transaction, recent, key);
    if (madeRecently >= perMinuteMax) return 'too_fast';
    // Expired keys count toward the limit of active keys until they are revoked.
    const makeRoom = `update auth.api_keys set revoked_at = clock_timestamp()
      where user_id = :userId and revoked_at is null and expires_at <= now() and (select count(*) from auth.api_keys
        where user_id = :userId and revoked_at is null and id <> :id) >= :activeMax`;
    await rows(transaction, makeRoom, { ...key, activeMax });
    const sql = `insert into auth.api_keys as k
        (id, user_id, label, key_prefix, token_hash, permissions, workspace_id, expires_at, made_by, made_by_key)
      select :id, :userId, :label, :keyPrefix, :hash, :permissions, cast(:workspaceId as uuid),
        cast(:expiresAt as timestamptz), cast(:madeBy as text), cast(:madeByKey as uuid)
      where (select count(*) from auth.api_keys
        where user_id = :userId and revoked_at is null and id <> :id) < :activeMax
      on conflict (id) do update set token_hash = excluded.token_hash, key_prefix = excluded.key_prefix
        where k.user_id = excluded.user_id and k.revoked_at is null
          and k.created_at > now() - make_interval(secs => :keptSeconds)
      returning ${COLUMNS}`;
    const keptSeconds = LIMITS.idempotencyKeptMs / 1000;
    const values = { ...key, hash: Buffer.from(tokenHash, 'hex'), activeMax, keptSeconds };
    const [made] = await rows<KeyRow>(transaction, sql, values);
    return made ? keyReply(made, 'full') : 'too_many';
  });
}

/** So that none of them creates another while they are revoked. Index api_keys (user_id, created_at). */
async function lockKeysOf(transaction: Knex, userId: string): Promise<void> {
  const lock = `select id from auth.api_keys where user_id = :userId and revoked_at is null order by id for update`;
  await rows(transaction, lock, { userId });
}

/** Run it in a transaction. */
export async function revokeAllKeysOf(transaction: Knex, userId: string): Promise<void> {
  await lockKeysOf(transaction, userId);
  const sql = `update auth.api_keys set revoked_at = clock_timestamp() where user_id = :userId and revoked_at is null`;
  await rows(transaction, sql, { userId });
}

/** Index api_keys (made_by_key), and that of the lock. */
function revokeKeyWithMade(knex: Knex, userId: string, id: string): Promise<RevokedKey[]> {
  return knex.transaction(async (transaction) => {
    await lockKeysOf(transaction, userId);
    const sql = `with recursive made as (
        select id from auth.api_keys where id = :id and user_id = :userId
        union select k.id from auth.api_keys k join made on k.made_by_key = made.id
      )
      update auth.api_keys set revoked_at = clock_timestamp()
        where id in (select id from made) and user_id = :userId and revoked_at is null
        returning ${REVOKED_KEY}`;
    return rows<RevokedKey>(transaction, sql, { userId, id });
  });
}

/** Owners of a workspace do not see which key of a person created a limited one: it may reach other workspaces. */
function keyReply({ madeBy, makerId, makerPrefix, ...row }: KeyRow, detail: 'full' | 'for_owners'): ApiKey {
  const maker =
    makerId === null || makerPrefix === null || detail !== 'full' ? {} : { id: makerId, keyPrefix: makerPrefix };
  const createdBy: KeyMaker | null = madeBy === 'api_key' ? { kind: madeBy, ...maker } : madeBy && { kind: madeBy };
  return {
    ...row,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    createdBy,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
