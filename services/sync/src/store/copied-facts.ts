import type { CopiedKey, CopiedRecord } from '@wts/contracts';
import { HEAD } from '@wts/log';
import { layoutOf, type Model } from '@wts/models';
import type { Pool } from 'pg';
import { inTransaction } from './transaction.ts';

/*
 * What a workspace has besides records, in the cell where it arrives. Written directly, because no reader is sent any of it.
 */

const COUNTERS = `insert into sync.task_counters as c (workspace_id, last_number)
  select $1, max((record->>'lastNumber')::int) from unnest($2::json[]) as record having count(*) > 0
  on conflict (workspace_id) do update set last_number = greatest(c.last_number, excluded.last_number)`;

const LOSSES = `insert into sync.membership_losses (workspace_id, user_id, ended, taken_at)
  select $1, (record->>'userId')::uuid, (record->>'ended')::int, (record->>'takenAt')::timestamp at time zone 'UTC'
    from unnest($2::json[]) as record
  on conflict (workspace_id, user_id) do update set ended = excluded.ended, taken_at = excluded.taken_at`;

const GROUPS = 'insert into sync.used_groups select distinct id from unnest($1::uuid[]) as id on conflict do nothing';

/**
 * The positions of a key are those of its records in this log, as they are put; for a record that is deleted, the head. Relies on index
 * (model_id, sync_id). Keeps cells.move.once.
 */
const KEYS = `with head as materialized (select ${HEAD} as at),
  given as (
    select k.*, array(select coalesce(
        (select sync_id from sync.sync_actions where model_id = nullif(split_part(main, ' ', 2), '')::uuid
          and model = split_part(main, ' ', 1) order by sync_actions.sync_id desc limit 1), head.at)
      from json_array_elements_text(k.mains) with ordinality as m(main, n) order by n) as places, head.at
    from head, json_to_recordset($1) as k("userId" uuid, "clientId" text, "clientTxId" text, "createdAt" timestamptz, mains json)
  )
  insert into sync.idempotency_keys (user_id, client_id, client_tx_id, last_id, main_ids, created_at)
    select "userId", "clientId", "clientTxId", coalesce((select max(place) from unnest(places) as place), at), places, "createdAt"
    from given on conflict do nothing`;

/** The people of whom a workspace sees exactly this already. Index frozen_people (user_id, group_id). */
export async function findFrozen(
  pool: Pool,
  workspaceId: string,
  people: readonly { readonly id: string; readonly record: object | null }[],
): Promise<ReadonlySet<string>> {
  if (people.length === 0) return new Set();
  const { rows } = await pool.query<{ id: string }>(
    `select user_id as id from unnest($2::uuid[], $3::jsonb[]) as given(id, seen)
      join sync.frozen_people on user_id = given.id and group_id = $1 and record::jsonb = given.seen`,
    [workspaceId, people.map(({ id }) => id), people.map(({ record }) => JSON.stringify(record))],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Which records of other workspaces have these ids. */
export async function findForeign(
  pool: Pool,
  {
    model,
    ids,
    workspaceId,
  }: { readonly model: Model; readonly ids: readonly string[]; readonly workspaceId: string | null },
): Promise<string[]> {
  const sql = `select id from ${layoutOf(model).table} where id = any($1) and workspace_id is distinct from $2`;
  return (await pool.query<{ id: string }>(sql, [ids, workspaceId])).rows.map(({ id }) => id);
}

/** Which of these people this cell has no record of. */
export async function findMissingPeople(pool: Pool, userIds: readonly string[]): Promise<string[]> {
  const sql =
    'select id from unnest($1::uuid[]) as given(id) where not exists (select from sync.users u where u.id = given.id)';
  return (await pool.query<{ id: string }>(sql, [userIds])).rows.map(({ id }) => id);
}

export interface CopiedFacts {
  readonly facts: readonly CopiedRecord[];
  readonly keys: readonly CopiedKey[];
  readonly usedGroups: readonly string[];
}

/** False, and nothing is written, unless the workspace arrives: its state stays so until the transaction ends. */
export async function putFacts(
  pool: Pool,
  workspaceId: string,
  { facts, keys, usedGroups }: CopiedFacts,
): Promise<boolean> {
  const recordsOf = (name: string): string[] =>
    facts.flatMap(({ model, record }) => (model === name && record !== null ? [JSON.stringify(record)] : []));
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query(
      `select from sync.workspace_moves where workspace_id = $1 and state = 'arriving' for share`,
      [workspaceId],
    );
    if (rows.length === 0) return false;
    if (facts.length > 0) {
      await client.query(COUNTERS, [workspaceId, recordsOf('TaskCounter')]);
      await client.query(LOSSES, [workspaceId, recordsOf('MembershipLoss')]);
    }
    if (usedGroups.length > 0) await client.query(GROUPS, [usedGroups]);
    if (keys.length > 0) await client.query(KEYS, [JSON.stringify(keys)]);
    return true;
  });
}
