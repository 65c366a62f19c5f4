import { rows } from '@wts/service-kit/postgres';
import type { SealedSecret } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';

/** Names this lock among all advisory locks of the database. */
const KEYS_LOCK = 7_368_031;

export interface StoredKey extends SealedSecret {
  readonly id: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly signsFrom: Date;
}

/** What a round changes. */
export interface KeyChange {
  readonly make: StoredKey | null;
  readonly deleteIds: readonly string[];
}

export interface SigningKeyStore {
  list(): Promise<StoredKey[]>;
  /** Changes the keys as `plan` decides by those that exist. One replica at a time, so that two never make the same key. */
  change(plan: (keys: readonly StoredKey[]) => KeyChange): Promise<void>;
}

export function signingKeyStore(knex: Knex): SigningKeyStore {
  return {
    list: () => listKeys(knex),
    change: (plan) =>
      knex.transaction(async (transaction) => {
        await rows(transaction, `select pg_advisory_xact_lock(:lock)`, { lock: KEYS_LOCK });
        const { make, deleteIds } = plan(await listKeys(transaction));
        if (deleteIds.length > 0)
          await rows(transaction, `delete from auth.signing_keys where id = any(:ids)`, { ids: deleteIds });
        if (make === null) return;
        const sql = `insert into auth.signing_keys (id, public_jwk, private_key, sealed_with, signs_from)
          values (:id, :publicJwk, :sealed, :keyId, :signsFrom)`;
        await rows(transaction, sql, { ...make, publicJwk: JSON.stringify(make.publicJwk) });
      }),
  };
}

function listKeys(knex: Knex): Promise<StoredKey[]> {
  const sql = `select id, public_jwk as "publicJwk", private_key as sealed, sealed_with as "keyId",
    signs_from as "signsFrom" from auth.signing_keys order by signs_from`;
  return rows<StoredKey>(knex, sql);
}
