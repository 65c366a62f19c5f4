import type { ApiKey, KeyMaker, KeyPermissions, Role } from '@wts/contracts';
import { LIMITS } from '@wts/contracts';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

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

/** Why a key is not made. */
export type KeyRefusal = 'too_many' | 'maker_revoked';

export interface RevokedKey {
  readonly id: string;
  readonly userId: string;
}

export interface LiveKey {
  readonly id: string;
  readonly userId: string;
  readonly permissions: KeyPermissions;
  readonly workspaceId: string | null;
  readonly expiresAt: Date | null;
}

export interface RevokedKeys {
  /** To the microsecond: a place between two keys. */
  readonly at: string;
  readonly keys: { readonly id: string; readonly userId: string; readonly revokedAt: string }[];
}

/** The token itself never gets here: keeps api-keys.token.stored-hashed. */
export interface ApiKeyStore {
  /**
   * Makes no key beyond `activeMax` live ones of the person, and none with a key that is revoked. A key of this id whose
   * answer got lost gets the new token in place of the one that was never told.
   */
  insert(key: NewStoredKey, activeMax: number): Promise<ApiKey | KeyRefusal>;
  /** The newest first; without revoked ones. */
  listOf(userId: string): Promise<ApiKey[]>;
  /** Those of everybody that are limited to a workspace. */
  listIn(workspaceId: string): Promise<ApiKey[]>;
  /**
   * Ends a key of the person, or one limited to a workspace in which they have one of these roles. Nothing when there is no
   * such key, or it was revoked before.
   */
  revoke(userId: string, id: string, roles: readonly Role[]): Promise<RevokedKey[]>;
  /** Ends what is alive of a key of the person, the keys made with it, those made with these and so on. */
  revokeWithMade(userId: string, id: string): Promise<RevokedKey[]>;
  /** Keys revoked after a place, in order; and the time of the database. */
  listRevoked(after: { readonly since: string; readonly id: string } | null, limit: number): Promise<RevokedKeys>;
  /** Null for a key that is unknown, revoked or expired: callers cannot tell which. */
  findLive(tokenHash: string): Promise<LiveKey | null>;
  /** Writes that keys were just used, leaving alone those written within `intervalMs`. */
  recordUse(ids: readonly string[], intervalMs: number): Promise<void>;
}

interface KeyRow extends Omit<ApiKey, 'expiresAt' | 'createdAt' | 'lastUsedAt' | 'createdBy'> {
  readonly madeBy: 'session' | 'api_key' | null;
  readonly makerId: string | null;
  readonly makerPrefix: string | null;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const COLUMNS = `k.id, k.user_id as "userId", k.label, k.key_prefix as "keyPrefix", k.permissions,
  k.workspace_id as "workspaceId", k.expires_at as "expiresAt", k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt", k.made_by as "madeBy", k.made_by_key as "makerId",
  (select maker.key_prefix from workspace.api_keys maker where maker.id = k.made_by_key) as "makerPrefix"`;

export function apiKeyStore(knex: Knex): ApiKeyStore {
  return {
    insert: (key, activeMax) => insertKey(knex, key, activeMax),
    // Index api_keys (user_id, created_at).
    listOf: async (userId) => {
      const sql = `select ${COLUMNS} from workspace.api_keys k where k.user_id = :userId and k.revoked_at is null
        order by k.created_at desc, k.id`;
      return (await rows<KeyRow>(knex, sql, { userId })).map((row) => shown(row, 'whole'));
    },
    // Index api_keys (workspace_id).
    listIn: async (workspaceId) => {
      const sql = `select ${COLUMNS} from workspace.api_keys k
        where k.workspace_id = :workspaceId and k.revoked_at is null order by k.created_at desc, k.id`;
      return (await rows<KeyRow>(knex, sql, { workspaceId })).map((row) => shown(row, 'for_owners'));
    },
    // How long it takes must not tell whether a foreign key is there: what the person administers is read for any id, since
    // a value that is sought by must be known before the index is asked.
    revoke: async (userId, id, roles) => {
      const sql = `with office as materialized (
          select coalesce(array_agg(workspace_id), '{}') as ids from sync.workspace_members
            where user_id = :userId and role = any(:roles)
        )
        update workspace.api_keys k set revoked_at = now()
        where id = (select cast(:id as uuid) from office) and revoked_at is null
          and (user_id = :userId or workspace_id = any((select ids from office)::uuid[]))
        returning id, user_id as "userId"`;
      return rows<RevokedKey>(knex, sql, { id, userId, roles });
    },
    revokeWithMade: (userId, id) => revokeFamily(knex, userId, id),
    // Index api_keys (revoked_at).
    listRevoked: async (after, limit) => {
      const [clock] = await rows<{ at: string }>(knex, `select ${timeText('clock_timestamp()')} as at`);
      if (clock === undefined) throw new Error('a select without a table has one row');
      if (after === null) return { at: clock.at, keys: [] };
      const sql = `select id, user_id as "userId", ${timeText('revoked_at')} as "revokedAt" from workspace.api_keys
        where revoked_at >= cast(:since as timestamptz) and (revoked_at, id) > (cast(:since as timestamptz), cast(:id as uuid))
        order by revoked_at, id limit :limit`;
      return { at: clock.at, keys: await rows(knex, sql, { ...after, limit }) };
    },
    // Unique index api_keys (token_hash).
    findLive: async (tokenHash) => {
      const sql = `select id, user_id as "userId", permissions, workspace_id as "workspaceId", expires_at as "expiresAt"
        from workspace.api_keys
        where token_hash = :hash and revoked_at is null and (expires_at is null or expires_at > now())`;
      const [found] = await rows<LiveKey>(knex, sql, { hash: Buffer.from(tokenHash, 'hex') });
      return found ?? null;
    },
    recordUse: async (ids, intervalMs) => {
      const sql = `update workspace.api_keys set last_used_at = now()
        where id = any(:ids) and (last_used_at is null or last_used_at < now() - make_interval(secs => :seconds))`;
      await rows(knex, sql, { ids, seconds: intervalMs / 1000 });
    },
  };
}

/** The maker is locked until the new key is there, so a revocation of what it made comes before, or finds the new key. */
function insertKey(knex: Knex, { tokenHash, ...key }: NewStoredKey, activeMax: number): Promise<ApiKey | KeyRefusal> {
  return knex.transaction(async (held) => {
    const maker = `select id from workspace.api_keys where id = :madeByKey and revoked_at is null for share`;
    if (key.madeByKey !== null && (await rows(held, maker, key)).length === 0) return 'maker_revoked';
    const sql = `insert into workspace.api_keys as k
        (id, user_id, label, key_prefix, token_hash, permissions, workspace_id, expires_at, made_by, made_by_key)
      select :id, :userId, :label, :keyPrefix, :hash, :permissions, cast(:workspaceId as uuid),
        cast(:expiresAt as timestamptz), cast(:madeBy as text), cast(:madeByKey as uuid)
      where (select count(*) from workspace.api_keys
        where user_id = :userId and revoked_at is null and id <> :id) < :activeMax
      on conflict (id) do update set token_hash = excluded.token_hash, key_prefix = excluded.key_prefix
        where k.user_id = excluded.user_id and k.revoked_at is null
          and k.created_at > now() - make_interval(secs => :keptSeconds)
      returning ${COLUMNS}`;
    const keptSeconds = LIMITS.idempotencyKeptMs / 1000;
    const values = { ...key, hash: Buffer.from(tokenHash, 'hex'), activeMax, keptSeconds };
    const [made] = await rows<KeyRow>(held, sql, values);
    return made ? shown(made, 'whole') : 'too_many';
  });
}

/**
 * All live keys of the person are held first: none of them makes another between the look at what was made and its end.
 * Indexes api_keys (user_id, created_at) and (made_by_key).
 */
function revokeFamily(knex: Knex, userId: string, id: string): Promise<RevokedKey[]> {
  return knex.transaction(async (held) => {
    const hold = `select id from workspace.api_keys where user_id = :userId and revoked_at is null order by id for update`;
    await rows(held, hold, { userId });
    const sql = `with recursive made as (
        select id from workspace.api_keys where id = :id and user_id = :userId
        union select k.id from workspace.api_keys k join made on k.made_by_key = made.id
      )
      update workspace.api_keys set revoked_at = clock_timestamp()
        where id in (select id from made) and user_id = :userId and revoked_at is null
        returning id, user_id as "userId"`;
    return rows<RevokedKey>(held, sql, { userId, id });
  });
}

const timeText = (value: string): string => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Who owns a workspace learns nothing of keys that reach further. */
function shown({ madeBy, makerId, makerPrefix, ...row }: KeyRow, detail: 'whole' | 'for_owners'): ApiKey {
  const maker =
    makerId === null || makerPrefix === null || detail !== 'whole' ? {} : { id: makerId, keyPrefix: makerPrefix };
  const createdBy: KeyMaker | null = madeBy === 'api_key' ? { kind: madeBy, ...maker } : madeBy && { kind: madeBy };
  return {
    ...row,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    createdBy,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
