import type { Knex } from 'knex';
import { firstRow, rows } from './rows.ts';

/** The stored reply of a key. */
export interface StoredReply {
  readonly status: number;
  /** Sealed; see `idempotency`. */
  readonly body: Buffer;
}

/** The state of a key: claimed by this request, running in another one, or answered with a stored reply. */
export type Claim =
  | { readonly state: 'won' }
  | { readonly state: 'running'; readonly fingerprint: Buffer }
  | { readonly state: 'answered'; readonly fingerprint: Buffer; readonly answer: StoredReply };

/** Stores replies; every replica of a service must use the same one. */
export interface IdempotencyStore {
  /** Of several concurrent claims one wins. A claim that is neither kept nor released expires after `leaseMs`. */
  claim(key: Buffer, claim: { owner: string; fingerprint: Buffer; leaseMs: number }): Promise<Claim>;
  /** The state of a key, without claiming it; null for an unused one. */
  find(key: Buffer): Promise<Exclude<Claim, { state: 'won' }> | null>;
  /** Does nothing when another request has claimed the key meanwhile. */
  keep(key: Buffer, owner: string, answer: StoredReply, keptMs: number): Promise<void>;
  release(key: Buffer, owner: string): Promise<void>;
}

/** Each new key deletes up to so many expired ones, so that the table holds about a day of them. */
const DELETED_AT_ONCE = 20;

interface KeyRow {
  readonly owner: string | null;
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly body: Buffer | null;
}

/**
 * Stores keys in a table of the service: `key_hash bytea primary key, owner text, fingerprint bytea, status smallint,
 * body bytea, expires_at timestamptz`, with an index on `expires_at`.
 */
export function idempotencyKeys(knex: Knex, table: string): IdempotencyStore {
  return {
    // The primary key lets one of several concurrent claims win. Until the reply is stored, `expires_at` ends the lease.
    claim: async (key, { owner, fingerprint, leaseMs }) => {
      const take = `insert into ${table} as stored (key_hash, owner, fingerprint, expires_at)
        values (:key, :owner, :fingerprint, now() + make_interval(secs => :seconds))
        on conflict (key_hash) do update set owner = excluded.owner, fingerprint = excluded.fingerprint,
          expires_at = excluded.expires_at, status = null, body = null
        where stored.expires_at <= now()
        returning owner`;
      if ((await rows(knex, take, { key, owner, fingerprint, seconds: leaseMs / 1000 })).length > 0) {
        // Relies on index (expires_at). Skips rows that another request deletes.
        const deleteExpired = `delete from ${table} where key_hash in (select key_hash from ${table}
          where expires_at <= now() order by expires_at limit ${DELETED_AT_ONCE} for update skip locked)`;
        await rows(knex, deleteExpired);
        return { state: 'won' };
      }
      const sql = `select owner, fingerprint, status, body from ${table} where key_hash = :key`;
      return claimOf(await firstRow<KeyRow>(knex, sql, { key }), fingerprint);
    },
    find: async (key) => {
      const sql = `select owner, fingerprint, status, body from ${table} where key_hash = :key and expires_at > now()`;
      const row = await firstRow<KeyRow>(knex, sql, { key });
      return row === null ? null : claimOf(row, row.fingerprint);
    },
    keep: async (key, owner, { status, body }, keptMs) => {
      const sql = `update ${table} set status = :status, body = :body,
          expires_at = now() + make_interval(secs => :seconds)
        where key_hash = :key and owner = :owner`;
      await rows(knex, sql, { key, owner, status, body, seconds: keptMs / 1000 });
    },
    release: async (key, owner) => {
      await rows(knex, `delete from ${table} where key_hash = :key and owner = :owner`, { key, owner });
    },
  };
}

function claimOf(row: KeyRow | null, fingerprint: Buffer): Exclude<Claim, { state: 'won' }> {
  // Released between the two statements: a repeated request can claim it.
  if (row === null) return { state: 'running', fingerprint };
  if (row.status === null || row.body === null) return { state: 'running', fingerprint: row.fingerprint };
  return { state: 'answered', fingerprint: row.fingerprint, answer: { status: row.status, body: row.body } };
}
