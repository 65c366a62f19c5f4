import { connectTo } from '@wts/testkit';
import { escapeIdentifier, type Client, type Pool } from 'pg';

export interface Seed {
  /** With the name of its schema. */
  readonly table: string;
  /** The task to copy. */
  readonly modelId: string;
  readonly count: number;
  /** The table with the last task number of each workspace. */
  readonly counter?: string;
}

/** The columns that differ from copy to copy. A record contains the id and the number as text. */
const COLUMNS: { readonly [column: string]: string } = {
  id: 'made.id',
  number: 'made.number',
  record: `replace(replace(model.record::text, model.id::text, made.id::text),
    '"number":' || model.number, '"number":' || made.number)::json`,
};

/**
 * Copies one task many times, each with a new id and number: a million copies take a minute, a million changes ten. Then it
 * analyzes the table and writes a checkpoint, so that no background work disturbs the measurement.
 */
export async function cloneTasks(databaseUrl: string, { table, modelId, count, counter }: Seed): Promise<void> {
  if (count <= 0) return;
  await using client = await connectTo(databaseUrl);
  const columns = await columnsOf(client, table);
  const values = columns.map((name) => COLUMNS[name] ?? `model.${escapeIdentifier(name)}`);
  // The lateral subquery runs once per row, because the record needs the same id as the column.
  await client.query(
    `insert into ${table} (${columns.map(escapeIdentifier).join(', ')})
     select ${values.join(', ')} from ${table} model, generate_series(1, $2::int) n,
       lateral (select gen_random_uuid() as id, coalesce(model.number, 0) + n as number) made
     where model.id = $1`,
    [modelId, count],
  );
  if (counter !== undefined) {
    await client.query(
      `update ${counter} set last_number = last_number + $2
       where workspace_id = (select workspace_id from ${table} where id = $1)`,
      [modelId, count],
    );
  }
  await client.query(`vacuum (analyze) ${table}`);
  await client.query('checkpoint');
}

/** The columns that an INSERT may set. */
export async function columnsOf(client: Client | Pool, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows.map(({ name }) => name);
}
