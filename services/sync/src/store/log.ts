import type { ActionName, LogAction, ModelRecord } from '@wts/contracts';
import type { Pool } from 'pg';
import { literal, uuidList } from './literal.ts';

/*
 * The log: what became true, in one order.
 *
 * Places are dense numbers computed under a transaction-scoped advisory lock: the next commit can take the lock only
 * after PostgreSQL made the one before visible. So whoever sees place N sees every place below it, a rollback leaves no
 * hole, and no reader needs to wait for stragglers. A sequence gives neither.
 */

/** Any constant: names the lock of this log among all advisory locks of the database. */
const LOG_LOCK = 7_368_011;

/**
 * The head of the log, as SQL: its last place, or where its epoch began. Every reader takes it from here, because the gap
 * before an epoch has no entry to be found by.
 */
export const HEAD = `greatest(coalesce((select sync_id from sync.sync_actions order by sync_id desc limit 1), 0), (select began_at from sync.log_state))`;

/** The place a client's cursor must be at or past, as SQL: nothing that follows it was trimmed or lost. */
export const CLIENT_FLOOR = `greatest(floor, began_at)`;

/** Under the lock of the log: a promoted database begins a new epoch before it takes the next entry. */
const LOCK = `select pg_advisory_xact_lock(${LOG_LOCK});
select sync.begin_epoch() from sync.log_state where split_part(lineage, '/', 2) <> sync.log_timeline()`;

/** An entry to be appended; its place is the head plus `offset`. */
export interface NewEntry {
  readonly offset: number;
  readonly eventId: string;
  readonly workspaceId: string | null;
  readonly groupId: string;
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  /** JSON texts. */
  readonly record: string;
  readonly data: string | null;
  readonly changed: readonly string[];
  readonly actorId: string;
  readonly clientId: string;
  readonly clientTxId: string;
}

export interface NewKey {
  readonly userId: string;
  readonly clientId: string;
  readonly clientTxId: string;
  /** Offset of the unit's last entry. */
  readonly last: number;
  /** The entry that answers each of its mutations: an offset, or the place of an older entry. */
  readonly mains: readonly (number | bigint)[];
}

/**
 * Takes the lock, reads the head, appends entries and idempotency keys at the places that follow. Sent in one message with
 * COMMIT, so the lock is held for one statement and one flush. The head is read by a statement of its own snapshot, taken
 * after the lock was given.
 */
export function appendSql(entries: readonly NewEntry[], keys: readonly NewKey[], createdAt: string): string {
  const entryRows = entries.map(
    (e) =>
      `(${e.offset}, '${e.eventId}'::uuid, ${e.workspaceId === null ? 'null' : `'${e.workspaceId}'`}::uuid, '${e.groupId}'::uuid, '${e.modelName}', '${e.modelId}'::uuid, '${e.action}', ${literal(e.record)}::json, ${e.data === null ? 'null' : literal(e.data)}::json, '{${e.changed.join(',')}}'::text[], '${e.actorId}'::uuid, ${literal(e.clientId)}, ${literal(e.clientTxId)})`,
  );
  // Older places travel as negative numbers, since offsets are positive.
  const keyRows = keys.map(({ userId, clientId, clientTxId, last, mains }) => {
    const places = mains.map((place) => (typeof place === 'bigint' ? -place : place));
    return `('${userId}'::uuid, ${literal(clientId)}, ${literal(clientTxId)}, ${last}, array[${places.join(',')}]::bigint[])`;
  });
  const at = `${literal(createdAt)}::timestamptz`;
  return `${LOCK};
with head as materialized (select ${HEAD} as at),
entries as (
  insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
  select head.at + s.n, s.e, s.w, s.g, s.m, s.i, s.a, s.r, s.d, s.c, s.u, s.x, s.t, ${at}
  from head, (values ${entryRows.join(',')}) as s(n, e, w, g, m, i, a, r, d, c, u, x, t)
),
keys as (
  insert into sync.idempotency_keys (user_id, client_id, client_tx_id, last_id, main_ids, created_at)
  select s.u, s.x, s.t, head.at + s.l, array(select case when place > 0 then head.at + place else -place end from unnest(s.m) with ordinality as m(place, n) order by n), ${at}
  from head, (values ${keyRows.join(',')}) as s(u, x, t, l, m)
)
select at::text as head, (select epoch from sync.log_state) as epoch from head`;
}

export interface LogRow {
  sync_id: string;
  event_id: string;
  workspace_id: string | null;
  group_id: string;
  model: string;
  model_id: string;
  action: ActionName;
  record: string;
  data: string | null;
  changed: string[];
  actor_id: string;
  client_id: string;
  client_tx_id: string;
  created_at: string;
}

/** `sync_id` comes out as text: orders must name `sync_actions.sync_id`, or '10' sorts before '9'. */
const COLUMNS = `sync_id::text, event_id, workspace_id, group_id, model, model_id, action, record::text as record, data::text as data, changed,
  actor_id, client_id, client_tx_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at`;

function actionOf(row: LogRow): LogAction {
  const record = JSON.parse(row.record) as ModelRecord;
  return {
    syncId: row.sync_id,
    modelName: row.model,
    modelId: row.model_id,
    action: row.action,
    data: row.data === null ? record : (JSON.parse(row.data) as { [field: string]: unknown }),
    groupId: row.group_id,
    clientTxId: row.client_tx_id,
    clientId: row.client_id,
    createdAt: row.created_at,
    eventId: row.event_id,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    record,
    changed: row.changed,
  };
}

export interface LogPosition {
  /** Changes when the database was promoted from a copy that may lack the last entries: places may then be reused. */
  readonly epoch: string;
  readonly head: bigint;
  /** Entries up to and including this place were trimmed; a cursor must be at or past it. */
  readonly floor: bigint;
}

/** A part of the log as those read it who follow all of it. */
export interface LogPage {
  readonly actions: LogAction[];
  readonly head: bigint;
  /** Entries up to and including this place were trimmed: who is below it has missed some. */
  readonly floor: bigint;
  readonly epoch: string;
}

export class ActionLog {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async head(): Promise<LogPosition> {
    const { rows } = await this.#pool.query<{ epoch: string; floor: string; head: string }>(
      `select epoch::text, ${CLIENT_FLOOR}::text as floor, ${HEAD}::text as head from sync.log_state`,
    );
    const row = rows[0];
    if (!row) throw new Error('sync.log_state has no row: the migrations did not run to the end');
    return { epoch: row.epoch, floor: BigInt(row.floor), head: BigInt(row.head) };
  }

  /** Begins a new epoch when the database was promoted or restored since the last one began. */
  async settleEpoch(): Promise<void> {
    await this.#pool.query(
      `${LOCK}; select sync.begin_epoch() from sync.log_state where lineage <> sync.log_lineage()`,
    );
  }

  /** All groups, by the primary key. The head is read in the same snapshot: everything up to it was there to be read. */
  async read(after: bigint, limit: number, upTo?: bigint): Promise<LogPage> {
    const { rows } = await this.#pool.query<LogRow & { head: string; floor: string; epoch: string }>(
      `with head as (select ${HEAD} as at, floor, epoch from sync.log_state)
       select head.at::text as head, head.floor::text as floor, head.epoch::text as epoch, page.* from head left join lateral (
         select ${COLUMNS} from sync.sync_actions where sync_id > $1 and sync_id <= least(head.at, coalesce($3::bigint, head.at)) order by sync_actions.sync_id limit $2
       ) page on true order by page.sync_id::bigint`,
      [after.toString(), limit, upTo?.toString() ?? null],
    );
    const [first] = rows;
    if (first === undefined) throw new Error('sync.log_state has no row: the migrations did not run to the end');
    const { head, floor, epoch } = first;
    const actions = rows.filter(({ sync_id }) => sync_id !== null).map(actionOf);
    return { actions, head: BigInt(head), floor: BigInt(floor), epoch };
  }

  /** The entries at these places, for answering a replayed transaction. Trimmed ones are missing. */
  async at(places: readonly bigint[]): Promise<Map<bigint, LogAction>> {
    if (places.length === 0) return new Map();
    const { rows } = await this.#pool.query<LogRow>(
      `select ${COLUMNS} from sync.sync_actions where sync_id = any($1::bigint[])`,
      [places.map(String)],
    );
    return new Map(rows.map((row) => [BigInt(row.sync_id), actionOf(row)]));
  }
}

/** Who made these records: their first INSERT entries. Rests on index (model_id, sync_id). */
export function creationsSql(ids: Iterable<string>): string {
  return `select distinct on (model, model_id) model, model_id, client_id, actor_id, sync_id::text
    from sync.sync_actions where model_id in (${uuidList(ids)}) and action = 'INSERT' order by model, model_id, sync_id`;
}
