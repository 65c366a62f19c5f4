import type { Knex } from 'knex';
import type { Claim, IdempotencyStore } from '../routes/idempotency.ts';
import { rows } from './rows.ts';

/** Each new key clears away so many that are over, so that the table never holds much more than a day of them. */
const CLEARED_AT_ONCE = 20;

interface Row {
  readonly owner: string | null;
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly body: Buffer | null;
}

/**
 * Keys in a table of the service's own: `key_hash bytea primary key, owner text, fingerprint bytea, status smallint,
 * body bytea, expires_at timestamptz`, with an index on `expires_at`.
 */
export function idempotencyKeys(knex: Knex, table: string): IdempotencyStore {
  return {
    // The primary key decides between several at once. `expires_at` is the end of a lease until the answer is there.
    claim: async (key, { owner, fingerprint, leaseMs }) => {
      const take = `insert into ${table} as known (key_hash, owner, fingerprint, expires_at)
        values (:key, :owner, :fingerprint, now() + make_interval(secs => :seconds))
        on conflict (key_hash) do update set owner = excluded.owner, fingerprint = excluded.fingerprint,
          expires_at = excluded.expires_at, status = null, body = null
        where known.expires_at <= now()
        returning owner`;
      if ((await rows(knex, take, { key, owner, fingerprint, seconds: leaseMs / 1000 })).length > 0) {
        // Index (expires_at). Rows somebody else is clearing away are left to them.
        const clear = `delete from ${table} where key_hash in (select key_hash from ${table}
          where expires_at <= now() order by expires_at limit ${CLEARED_AT_ONCE} for update skip locked)`;
        await rows(knex, clear);
        return { state: 'won' };
      }
      const sql = `select owner, fingerprint, status, body from ${table} where key_hash = :key`;
      return claimOf((await rows<Row>(knex, sql, { key }))[0], fingerprint);
    },
    find: async (key) => {
      const sql = `select owner, fingerprint, status, body from ${table} where key_hash = :key and expires_at > now()`;
      const [row] = await rows<Row>(knex, sql, { key });
      return row === undefined ? null : claimOf(row, row.fingerprint);
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

function claimOf(row: Row | undefined, fingerprint: Buffer): Exclude<Claim, { state: 'won' }> {
  // Released between the two statements: whoever asks again finds it free.
  if (row === undefined) return { state: 'running', fingerprint };
  if (row.status === null || row.body === null) return { state: 'running', fingerprint: row.fingerprint };
  return { state: 'answered', fingerprint: row.fingerprint, answer: { status: row.status, body: row.body } };
}
