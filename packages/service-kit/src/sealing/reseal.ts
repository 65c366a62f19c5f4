import type { Pool } from 'pg';
import { sealSecret, unsealSecret, type SealedSecret, type SecretKeys } from './secret-keys.ts';

/** A table with sealed secrets. All are names of columns but `name`, an expression of SQL: the id that was given to `sealSecret`. */
export interface SealedTable {
  readonly table: string;
  readonly id: string;
  readonly name: string;
  readonly sealed: string;
  readonly keyId: string;
}

interface SealedRow {
  readonly id: string;
  readonly name: string;
  readonly sealed: Buffer;
  readonly keyId: string;
}

const ROWS_AT_ONCE = 500;

/**
 * Seals with the first key what is sealed with another one of the setting, so that an operator may remove that one. Several replicas
 * may do it at once, also with another first key while the setting changes. What is sealed with a key that the setting no longer has
 * stays. Returns how many rows it changed; throws when it could not read some, after all others. Keeps secrets.sealed.
 */
export async function reseal(
  pool: Pool,
  { table, id, name, sealed, keyId }: SealedTable,
  keys: SecretKeys,
): Promise<number> {
  const others = [...keys.byId.keys()].filter((key) => key !== keys.current.id);
  if (others.length === 0) return 0;
  const select = `select ${id} as id, ${name} as name, ${sealed} as sealed, ${keyId} as "keyId" from ${table}
    where ${keyId} = any($1) and ${id}::text <> all($2) limit ${ROWS_AT_ONCE}`;
  const update = `update ${table} set ${sealed} = $3, ${keyId} = $4 where ${id} = $1 and ${sealed} = $2`;
  const failures = new Map<string, unknown>();
  const again = (row: SealedRow): SealedSecret | null => {
    try {
      return sealSecret(keys, row.name, unsealSecret(keys, row.name, row));
    } catch (failure) {
      failures.set(row.id, failure);
      return null;
    }
  };
  let changed = 0;
  for (let found = ROWS_AT_ONCE; found === ROWS_AT_ONCE;) {
    const { rows } = await pool.query<SealedRow>(select, [others, [...failures.keys()]]);
    found = rows.length;
    for (const row of rows) {
      const secret = again(row);
      if (secret === null) continue;
      await pool.query(update, [row.id, row.sealed, secret.sealed, secret.keyId]);
      changed += 1;
    }
  }
  if (failures.size === 0) return changed;
  const message = `${failures.size} secrets in ${table} cannot be read with their key, among them that of ${[...failures.keys()][0]}`;
  throw new AggregateError(failures.values(), message);
}
