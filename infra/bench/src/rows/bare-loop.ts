import { randomUUID } from 'node:crypto';
import type { TestSystem } from '@wts/testkit';
import { escapeIdentifier, Pool } from 'pg';
import { closedLoop, type Measured } from '../load.ts';
import { columnsOf } from '../seed.ts';
import { createTask, type Target } from '../target.ts';

/** A row as PostgreSQL turns it into JSON. Other columns are copied as they are, so that a new column needs no change here. */
interface Row {
  readonly record: object;
}

interface Written {
  readonly task: Row;
  readonly entry: Row;
  readonly insert: string;
}

/**
 * The limit of PostgreSQL: the rows that one change writes, copied from a change that the system made, into tables with the same
 * columns and indexes, from as many connections in batches of the same size, without order, rules or HTTP.
 */
export async function bareLoop(
  { database }: TestSystem,
  ours: Target,
  { clients, batch, seconds }: { readonly clients: number; readonly batch: number; readonly seconds: number },
): Promise<Measured> {
  const connections = new Pool({ connectionString: database.url, max: clients });
  try {
    await connections.query(`create schema if not exists bench`);
    await connections.query(`create table if not exists bench.tasks (like sync.tasks including all)`);
    await connections.query(`create table if not exists bench.log (like sync.sync_actions including all)`);
    const written = await readWritten(connections, await createTask(ours));
    const { rows } = await connections.query<{ head: string }>(
      `select coalesce(max(sync_id), 0)::text as head from bench.log`,
    );
    let position = Number(rows[0]?.head);
    return await closedLoop(clients, seconds, async () => {
      const changes = Array.from({ length: batch }, () => newChange(written, (position += 1)));
      await connections.query(written.insert, [
        JSON.stringify(changes.map(({ task }) => task)),
        JSON.stringify(changes.map(({ entry }) => entry)),
      ]);
      return batch;
    });
  } finally {
    await connections.end();
  }
}

async function readWritten(connections: Pool, modelId: string): Promise<Written> {
  const { rows } = await connections.query<{ task: Row; entry: Row }>(
    `select to_json(task) as task, to_json(entry) as entry from sync.tasks task
     join sync.sync_actions entry on entry.model_id = task.id where task.id = $1`,
    [modelId],
  );
  const [written] = rows;
  if (written === undefined) throw new Error(`the task ${modelId} is not in sync.tasks and sync.sync_actions`);
  const insertOf = async (table: string, parameter: string): Promise<string> => {
    const columns = (await columnsOf(connections, table)).map(escapeIdentifier).join(', ');
    return `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, ${parameter})`;
  };
  const [tasks, log] = [await insertOf('bench.tasks', '$1'), await insertOf('bench.log', '$2')];
  return { ...written, insert: `with t as (${tasks}) ${log}` };
}

/** With new values for all unique keys. */
function newChange({ task, entry }: Written, position: number): { readonly task: object; readonly entry: object } {
  const [id, now] = [randomUUID(), new Date().toISOString()];
  const record = { ...task.record, id, number: position, createdAt: now, updatedAt: now };
  const common = { record, created_at: now };
  return {
    task: { ...task, ...common, id, number: position, updated_at: now },
    entry: { ...entry, ...common, sync_id: position, event_id: randomUUID(), model_id: id, client_tx_id: randomUUID() },
  };
}
