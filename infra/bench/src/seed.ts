import { Client, escapeIdentifier } from 'pg';

export interface Seed {
  /** With its schema. */
  readonly table: string;
  /** The task that all others are made after. */
  readonly modelId: string;
  readonly count: number;
  /** Where the last number of a workspace is kept. */
  readonly counter?: string;
}

/** What differs from task to task. A stored record repeats id and number in its text. */
const OWN: { readonly [column: string]: string } = {
  id: 'made.id',
  number: 'made.number',
  record: `replace(replace(model.record::text, model.id::text, made.id::text),
    '"number":' || model.number, '"number":' || made.number)::json`,
};

/**
 * Copies one task many times, each with an id and a number of its own: a million in a minute, where a million changes would
 * take ten. The table is left analyzed and written out, so that no background work follows into what is measured.
 */
export async function cloneTasks(databaseUrl: string, { table, modelId, count, counter }: Seed): Promise<void> {
  if (count <= 0) return;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    const columns = rows.map(({ name }) => name);
    const values = columns.map((name) => OWN[name] ?? `model.${escapeIdentifier(name)}`);
    // What depends on `n` is worked out for each row, and once: the record needs the same id as its column.
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
  } finally {
    await client.end();
  }
}
