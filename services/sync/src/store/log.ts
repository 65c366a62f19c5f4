import type { ActionName, LogAction, ModelRecord } from '@wts/contracts';
import type { Pool } from 'pg';
import { arrayOf, fromJsonList, jsonList, Prepared, type Call } from './prepared.ts';

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
 * The one row that says what the log is, as SQL. Named by its key: the connections that commit may scan no table, and the
 * price PostgreSQL puts on doing so all the same makes it compile the statement, for half a second, where it can (JIT).
 */
const LOG_STATE = `sync.log_state where is_only_row`;

/**
 * The head of the log, as SQL: its last place, or where its epoch began. Every reader takes it from here, because the gap
 * before an epoch has no entry to be found by.
 */
export const HEAD = `greatest(coalesce((select sync_id from sync.sync_actions order by sync_id desc limit 1), 0), (select began_at from ${LOG_STATE}))`;

/** The place a client's cursor must be at or past, as SQL: nothing that follows it was trimmed or lost. */
export const CLIENT_FLOOR = `greatest(floor, began_at)`;

/** Under the lock of the log: a promoted database begins a new epoch before it takes the next entry. Keeps sync.log.epoch. */
const LOCK = [
  `select pg_advisory_xact_lock(${LOG_LOCK})`,
  `select sync.begin_epoch() from ${LOG_STATE} and split_part(lineage, '/', 2) <> sync.log_timeline()`,
].map((text) => new Prepared('', text));

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
  /** The unit's last entry: its offset, or the place of an older one when it changes nothing. */
  readonly last: number | bigint;
  /** The entry that answers each of its mutations: an offset, or the place of an older entry. */
  readonly mains: readonly (number | bigint)[];
}

const ENTRY = 'uuid[], uuid[], uuid[], text[], uuid[], text[], text, text, text[], uuid[], text[], text[]';
const KEY = 'uuid[], text[], text[], bigint[], text[]';

const APPEND = new Prepared(
  `${ENTRY}, ${KEY}, timestamptz`,
  `with head as materialized (select ${HEAD} as at),
entries as (
  insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
  select head.at + s.n, s.e, s.w, s.g, s.m, s.i, s.a, s.r, s.d, s.c::text[], s.u, s.x, s.t, $18
  from head, unnest($1, $2, $3, $4, $5, $6, ${fromJsonList('$7')}, ${fromJsonList('$8')}, $9, $10, $11, $12) with ordinality as s(e, w, g, m, i, a, r, d, c, u, x, t, n)
),
keys as (
  insert into sync.idempotency_keys (user_id, client_id, client_tx_id, last_id, main_ids, created_at)
  select s.u, s.x, s.t, case when s.l > 0 then head.at + s.l else -s.l end, array(select case when place > 0 then head.at + place else -place end from unnest(s.m::bigint[]) with ordinality as m(place, n) order by n), $18
  from head, unnest($13, $14, $15, $16, $17) as s(u, x, t, l, m)
)
select at::text as head, (select epoch from ${LOG_STATE}) as epoch from head`,
);

/**
 * Takes the lock, reads the head, appends entries and idempotency keys at the places that follow. Sent in one message with
 * COMMIT, so the lock is held for one statement and one flush. The head is read by a statement of its own snapshot, taken
 * after the lock was given; so is what the `conditions` see.
 */
export function append(
  entries: readonly NewEntry[],
  keys: readonly NewKey[],
  createdAt: string,
  conditions: readonly Call[] = [],
): Call[] {
  const append = APPEND.with(
    entries.map(({ eventId }) => eventId),
    entries.map(({ workspaceId }) => workspaceId),
    entries.map(({ groupId }) => groupId),
    entries.map(({ modelName }) => modelName),
    entries.map(({ modelId }) => modelId),
    entries.map(({ action }) => action),
    jsonList(entries.map(({ record }) => record)),
    jsonList(entries.map(({ data }) => data)),
    entries.map(({ changed }) => arrayOf(changed)),
    entries.map(({ actorId }) => actorId),
    entries.map(({ clientId }) => clientId),
    entries.map(({ clientTxId }) => clientTxId),
    keys.map(({ userId }) => userId),
    keys.map(({ clientId }) => clientId),
    keys.map(({ clientTxId }) => clientTxId),
    keys.map(({ last }) => numberOf(last)),
    keys.map(({ mains }) => arrayOf(mains.map(numberOf))),
    createdAt,
  );
  return [...LOCK.map((statement) => statement.with()), ...conditions, append];
}

/** Older places travel as negative numbers, since offsets are positive. */
function numberOf(place: number | bigint): string {
  return String(typeof place === 'bigint' ? -place : place);
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

const READ = `with next as materialized (
    select (select sync_id from sync.sync_actions where sync_id > $1::bigint order by sync_id limit 1) as at
  )
  select (select ${HEAD})::text as head, floor::text, epoch::text, page.* from sync.log_state left join (
    select ${COLUMNS}, sync_id as place from sync.sync_actions
    where sync_id >= (select at from next) and sync_id < (select at from next) + $2::int
  ) page on true order by page.place`;

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
      `select pg_advisory_xact_lock(${LOG_LOCK}); select sync.begin_epoch() from sync.log_state where lineage <> sync.log_lineage()`,
    );
  }

  /**
   * All groups: what stands in the next `limit` places that are taken, so whatever plan is chosen reads no more than that. The
   * head is read in the same snapshot: everything up to it was there to be read.
   */
  async read(after: bigint, limit: number): Promise<LogPage> {
    const { rows } = await this.#pool.query<LogRow & { head: string; floor: string; epoch: string }>({
      name: 'read_log',
      text: READ,
      values: [after.toString(), limit],
    });
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

/**
 * Who made these records: the first INSERT entries of their present lives, since a record may be made again after it was
 * deleted, and an entry of a move tells of the same life. Rests on index (model_id, sync_id).
 */
export const CREATIONS = new Prepared(
  'uuid[]',
  `select distinct on (model, model_id) model, model_id, client_id, actor_id, sync_id::text
    from sync.sync_actions where model_id = any($1) and action = 'INSERT'
    order by model, model_id, record->>'createdAt' desc, sync_actions.sync_id`,
);

/**
 * The places of the last entries of these records; where they were trimmed, the floor, which every reader has passed. Rests on
 * index (model_id, sync_id).
 */
export const LAST_ENTRIES = new Prepared(
  'uuid[], text',
  `select r.id, coalesce(
      (select sync_id from sync.sync_actions where model_id = r.id and model = $2 order by sync_actions.sync_id desc limit 1),
      (select ${CLIENT_FLOOR} from sync.log_state))::text as last
    from unnest($1) r(id)`,
);
