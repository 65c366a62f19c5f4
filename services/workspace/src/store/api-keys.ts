import type { ApiKey, KeyPermissions } from '@wts/contracts';
import type { Knex } from 'knex';
import { rows } from './rows.ts';

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

/** The token itself never gets here: keeps api-keys.token.stored-hashed. */
export interface ApiKeyStore {
  /** Null when the person has `activeMax` keys already. */
  insert(key: NewStoredKey, activeMax: number): Promise<ApiKey | null>;
  /** The newest first; without revoked ones. */
  listOf(userId: string): Promise<ApiKey[]>;
  /** False when the person has no such key, or revoked it before. */
  revoke(userId: string, id: string): Promise<boolean>;
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

const COLUMNS = `id, label, key_prefix as "keyPrefix", permissions, workspace_id as "workspaceId",
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
    revoke: async (userId, id) => {
      const sql = `update workspace.api_keys set revoked_at = now()
        where id = :id and user_id = :userId and revoked_at is null returning id`;
      return (await rows(knex, sql, { id, userId })).length > 0;
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

function shown(row: KeyRow): ApiKey {
  return {
    ...row,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
