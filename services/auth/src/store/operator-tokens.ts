import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

export interface OperatorToken {
  readonly id: string;
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface OperatorTokenStore {
  /** `tokenHash` is a SHA-256 in hex. */
  insert(token: { readonly id: string; readonly tokenHash: string; readonly label: string }): Promise<void>;
  /** The id of a token that is not revoked, which counts as a use. Nothing caches it, so a revocation takes effect at once. */
  use(tokenHash: string): Promise<string | null>;
  /** Newest first. */
  list(): Promise<OperatorToken[]>;
  /** False when there is no such token, or it is revoked already. */
  revoke(id: string): Promise<boolean>;
}

/** How exactly the last use is stored. */
const USE_SECONDS = 60;

export function operatorTokenStore(knex: Knex): OperatorTokenStore {
  return {
    insert: async ({ id, tokenHash, label }) => {
      const sql = `insert into auth.operator_tokens (id, token_hash, label) values (:id, :hash, :label)`;
      await rows(knex, sql, { id, hash: Buffer.from(tokenHash, 'hex'), label });
    },
    // Unique index operator_tokens (token_hash). Both parts of the statement read the same snapshot.
    use: async (tokenHash) => {
      const sql = `with used as (
          update auth.operator_tokens set last_used_at = now() where token_hash = :hash and revoked_at is null
            and (last_used_at is null or last_used_at < now() - make_interval(secs => ${USE_SECONDS}))
        )
        select id from auth.operator_tokens where token_hash = :hash and revoked_at is null`;
      return (await firstRow<{ id: string }>(knex, sql, { hash: Buffer.from(tokenHash, 'hex') }))?.id ?? null;
    },
    list: () => {
      const sql = `select id, label, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
        from auth.operator_tokens order by created_at desc, id`;
      return rows(knex, sql);
    },
    revoke: async (id) => {
      const sql = `update auth.operator_tokens set revoked_at = now() where id = :id and revoked_at is null returning id`;
      return (await rows(knex, sql, { id })).length > 0;
    },
  };
}
