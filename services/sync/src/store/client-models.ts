import type { Queryable } from '@wts/log';

/** Stores which models a schema of a person has, and deletes all schemas of the person but the `keptMax` seen last. */
export async function storeClientModels(
  pool: Queryable,
  { userId, schemaHash, models }: { readonly userId: string; readonly schemaHash: string; readonly models: string },
  keptMax: number,
): Promise<void> {
  await pool.query(
    `with kept as (
       insert into sync.client_models (user_id, schema_hash, models) values ($1, $2, $3)
       on conflict (user_id, schema_hash) do update set models = excluded.models, seen_at = excluded.seen_at
     )
     delete from sync.client_models where user_id = $1 and schema_hash in (
       select schema_hash from sync.client_models where user_id = $1 and schema_hash <> $2
       order by seen_at desc offset $4)`,
    [userId, schemaHash, models, keptMax - 1],
  );
}

export async function findClientModels(
  pool: Queryable,
  userId: string,
  schemaHash: string,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ models: string }>(
    'select models from sync.client_models where user_id = $1 and schema_hash = $2',
    [userId, schemaHash],
  );
  return rows[0]?.models;
}
