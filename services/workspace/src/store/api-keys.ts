import type { ApiKey, KeyPermissions, Role } from '@wts/contracts';
import { rows } from '@wts/service-kit';
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
  /** Null when the person has `activeMax` keys already. */
  insert(key: NewStoredKey, activeMax: number): Promise<ApiKey | null>;
  /** The newest first; without revoked ones. */
  listOf(userId: string): Promise<ApiKey[]>;
  /** Those of everybody that are limited to a workspace. */
  listIn(workspaceId: string): Promise<ApiKey[]>;
  /**
   * Ends a key of the person, or one limited to a workspace in which they have one of these roles; whose it was. Null
   * when there is no such key, or it was revoked before.
   */
  revoke(userId: string, id: string, roles: readonly Role[]): Promise<string | null>;
  /** Keys revoked after a place, in order; and the time of the database. */
  listRevoked(after: { readonly since: string; readonly id: string } | null, limit: number): Promise<RevokedKeys>;
  /** Null for a key that is unknown, revoked or expired: callers cannot tell which. */
  findLive(tokenHash: string): Promise<LiveKey | null>;
  /** Writes that keys were just used, leaving alone those written within `intervalMs`. */
  recordUse(ids: readonly string[], intervalMs: number): Promise<void>;
}

interface KeyRow extends Omit<ApiKey, 'expiresAt' | 'createdAt' | 'lastUsedAt'> {
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const COLUMNS = `id, user_id as "userId", label, key_prefix as "keyPrefix", permissions, workspace_id as "workspaceId",
  expires_at as "expiresAt", created_at as "createdAt", last_used_at as "lastUsedAt"`;

export function apiKeyStore(knex: Knex): ApiKeyStore {
  return {
    insert: async ({ tokenHash, ...key }, activeMax) => {
      const sql = `insert into workspace.api_keys
          (id, user_id, label, key_prefix, token_hash, permissions, workspace_id, expires_at)
        select :id, :userId, :label, :keyPrefix, :hash, :permissions, cast(:workspaceId as uuid),
          cast(:expiresAt as timestamptz)
        where (select count(*) from workspace.api_keys where user_id = :userId and revoked_at is null) < :activeMax
        returning ${COLUMNS}`;
      const [made] = await rows<KeyRow>(knex, sql, { ...key, hash: Buffer.from(tokenHash, 'hex'), activeMax });
      return made ? shown(made) : null;
    },
    // Index api_keys (user_id, created_at).
    listOf: async (userId) => {
      const sql = `select ${COLUMNS} from workspace.api_keys where user_id = :userId and revoked_at is null
        order by created_at desc, id`;
      return (await rows<KeyRow>(knex, sql, { userId })).map(shown);
    },
    // Index api_keys (workspace_id).
    listIn: async (workspaceId) => {
      const sql = `select ${COLUMNS} from workspace.api_keys
        where workspace_id = :workspaceId and revoked_at is null order by created_at desc, id`;
      return (await rows<KeyRow>(knex, sql, { workspaceId })).map(shown);
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
        returning user_id as "userId"`;
      const [revoked] = await rows<{ userId: string }>(knex, sql, { id, userId, roles });
      return revoked?.userId ?? null;
    },
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

const timeText = (value: string): string => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

function shown(row: KeyRow): ApiKey {
  return {
    ...row,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
