import { connectTo, type TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { subscribeAtHead, untilReceived } from './subscriber.ts';
import type { Target } from './target.ts';
import { mutate, openClients } from './traffic.ts';

export const GROUPS = 400;
export const OWN_GROUPS = 200;
const ENTRIES_PER_TRANSACTION = 50_000;
const SETTLE_MS = 300_000;
const ROWS_AT_REST_MAX = 20_000;

export interface LargeLog {
  readonly entries: number;
  /** The groups of the reader; the first has a tenth of all entries. */
  readonly groups: readonly string[];
  readonly from: bigint;
  /** Who reads it. */
  readonly reader: { readonly userId: string; readonly apiKey: string };
}

/** Fills the log, half of it with entries of other groups. Written by SQL, because only the size matters here. */
export async function growLog(
  testSystem: TestSystem,
  ours: Target,
  { entries, statisticsMs }: { readonly entries: number; readonly statisticsMs: number },
): Promise<LargeLog> {
  const groups = Array.from({ length: GROUPS }, () => randomUUID() as string);
  // A new person, because the system may know the groups of another one already.
  const { userId, token: apiKey } = await testSystem.person('Reader');
  await using client = await connectTo(testSystem.database.url);
  await client.query(
    `insert into sync.workspace_members (id, user_id, role, created_at, updated_at, workspace_id, group_id, record)
       select gen_random_uuid(), $1, 'member', now(), now(), g, g, '{}' from unnest($2::uuid[]) g`,
    [userId, groups.slice(0, OWN_GROUPS)],
  );
  const from = await headOf(client);
  // Several transactions, because a query for the head scans all uncommitted entries.
  for (let left = entries; left > 0; left -= ENTRIES_PER_TRANSACTION)
    await write(client, groups, userId, Math.min(left, ENTRIES_PER_TRANSACTION));
  await client.query('vacuum analyze sync.sync_actions');
  await settle(ours, client, statisticsMs);
  return { entries, groups: groups.slice(0, OWN_GROUPS), from, reader: { userId, apiKey } };
}

async function headOf(client: Client): Promise<bigint> {
  const { rows } = await client.query<{ head: string }>('select max(sync_id) as head from sync.sync_actions');
  return BigInt(rows[0]?.head ?? '0');
}

async function write(client: Client, groups: readonly string[], userId: string, count: number): Promise<void> {
  await client.query(
    `with head as (select max(sync_id) as at from sync.sync_actions)
     insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
     select head.at + n, gen_random_uuid(), g, g, 'Task', gen_random_uuid(), 'UPDATE',
       json_build_object('id', g, 'title', 'Write down what the migration needs', 'description', repeat('x', 120)),
       json_build_object('title', 'Write down what the migration needs', 'updatedAt', now()), array['title'], $2, 'bench', gen_random_uuid()::text, now()
     from head, generate_series(1, $3::int) n, lateral (
       select ($1::uuid[])[case when n % 10 = 0 then 1 else 2 + (n % ($4::int - 1)) end] as g
     ) picked`,
    [groups, userId, count, GROUPS],
  );
}

/**
 * Waits until relay and hub have read the new entries. The hub has when a socket receives the last change; both have when
 * PostgreSQL returns almost no rows any more.
 */
async function settle(ours: Target, client: Client, statisticsMs: number): Promise<void> {
  using sockets = await subscribeAtHead(ours, 1);
  await using pool = openClients(ours.baseUrl, 1);
  await mutate(pool, ours, 1);
  await untilReceived(sockets, 1, SETTLE_MS, SETTLE_MS);
  if (sockets[0]?.actions === 0) throw new Error('the system did not reach the end of its log in time');
  const rowsRead = async (): Promise<number> => {
    const { rows } = await client.query<{ count: string }>(
      'select tup_returned + tup_fetched as count from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0]?.count);
  };
  const until = performance.now() + SETTLE_MS;
  for (let before = -Infinity, now = await rowsRead(); now - before > ROWS_AT_REST_MAX;) {
    if (performance.now() > until) throw new Error('the system still reads many rows');
    await pause(2 * statisticsMs);
    [before, now] = [now, await rowsRead()];
  }
}
