import type { Client } from 'pg';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { measureOwnWork } from './own-work.ts';

/** How many tasks a second the purge of the Trash deletes, and how long the changes of another person take meanwhile. */
export function purgeRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  return measureOwnWork(context, context.sizes.purgedTasks, {
    what: (tasks) => `purge of ${tasks} tasks in the Trash`,
    prepare: expire,
    // Other benchmarks leave tasks in the Trash.
    isLeft: `archived_at < now() - interval '35 days'`,
  });
}

/** As if the tasks of the workspace had been archived long ago, and the purge had run before. Other benchmarks wrote records with spaces. */
async function expire(client: Client, workspaceId: string): Promise<void> {
  await client.query(
    `update sync.tasks t set archived_at = aged.at::timestamptz, record = (t.record::jsonb || jsonb_build_object('archivedAt', aged.at))::json
     from (select to_char((now() - interval '40 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at) aged
     where t.workspace_id = $1`,
    [workspaceId],
  );
  await client.query(
    `insert into sync.purge_state (retention_days, last_round_at) values (30, now())
     on conflict (is_only_row) do update set retention_days = 30, last_round_at = now(), waits_until = null`,
  );
}
