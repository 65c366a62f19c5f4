import type { KeyPermissions } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';

/** The key that a person allowed a tool to get. */
export interface AllowedKey {
  readonly label: string;
  readonly permissions: KeyPermissions;
  readonly workspaceId: string | null;
  readonly keyExpiresAt: Date | null;
}

export interface NewConnectCode extends AllowedKey {
  readonly userId: string;
  /** In which the person allowed it. The code ends with the session. */
  readonly sessionId: string;
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string;
  readonly lifeMs: number;
}

export interface ConnectCodeUse extends Omit<NewConnectCode, 'challenge' | 'lifeMs'> {
  /** The verifier is that of the challenge. */
  readonly isVerified: boolean;
  /** Neither the code nor its session has ended. */
  readonly isLive: boolean;
  /** Uses up to this one, at most 2. */
  readonly uses: number;
  /** The key that an earlier use made. */
  readonly keyId: string | null;
}

/** Each effect is one statement, so of simultaneous uses exactly one is the first, on any number of replicas. */
export interface ConnectCodeStore {
  insert(hash: Buffer, code: NewConnectCode): Promise<void>;
  /** A wrong verifier uses the code up too, but is no second use. Null for an unknown code. */
  use(hash: Buffer, challenge: string): Promise<ConnectCodeUse | null>;
  /** Stores the key of the first use. False when the code was used again meanwhile: that use found no key to revoke. */
  keepKey(hash: Buffer, keyId: string): Promise<boolean>;
}

export function connectCodeStore(knex: Knex): ConnectCodeStore {
  return {
    // Index connect_codes (user_id, created_at).
    insert: async (hash, { lifeMs, ...code }) => {
      const sql = `with excess as (
          delete from auth.connect_codes where hash in (select hash from auth.connect_codes where user_id = :userId
            order by created_at desc offset ${AUTH_LIMITS.connectCodesPerPersonMax - 1})
        )
        insert into auth.connect_codes
          (hash, user_id, session_id, challenge, label, permissions, workspace_id, key_expires_at, expires_at)
        values (:hash, :userId, :sessionId, :challenge, :label, :permissions, :workspaceId, :keyExpiresAt,
          now() + make_interval(secs => :seconds))`;
      await rows(knex, sql, { hash, ...code, seconds: lifeMs / 1000 });
    },
    use: (hash, challenge) => {
      const sql = `update auth.connect_codes c
        set uses = case when c.uses = 0 or c.challenge = :challenge then least(c.uses + 1, 2) else c.uses end
        where c.hash = :hash
        returning c.label, c.permissions, c.workspace_id as "workspaceId", c.key_expires_at as "keyExpiresAt",
          c.user_id as "userId", c.session_id as "sessionId", c.challenge = :challenge as "isVerified",
          c.expires_at > now() and exists (select from auth.sessions s where s.id = c.session_id) as "isLive",
          c.uses, c.key_id as "keyId"`;
      return firstRow(knex, sql, { hash, challenge });
    },
    keepKey: async (hash, keyId) => {
      const sql = `update auth.connect_codes set key_id = :keyId where hash = :hash returning uses`;
      const [code] = await rows<{ uses: number }>(knex, sql, { hash, keyId });
      return code?.uses === 1;
    },
  };
}
