import type { StoredEntry, ModelRecord } from '@wts/contracts';
import { stateRow, type Queryable } from './queryable.ts';
import { CLIENT_FLOOR, HEAD, isoTimeSql } from './sql.ts';

export interface LogHead {
  /** Changes when the log may have lost its tail, as after a promotion of an asynchronous standby. */
  readonly epoch: string;
  readonly head: bigint;
}

interface LogState extends LogHead {
  /** Entries up to and including this position were trimmed; a cursor must be at or past it. */
  readonly floor: bigint;
}

/** A page of the log with its state, of one snapshot. */
export interface LogPage {
  readonly entries: readonly StoredEntry[];
  readonly head: bigint;
  readonly epoch?: string;
  /** Entries up to and including this position were trimmed. */
  readonly floor?: bigint;
}

/** A stored entry with its data and record as JSON text. `data` is null where it equals the record. */
export type LogRow = Omit<StoredEntry, 'data' | 'record'> & { readonly data: string | null; readonly record: string };

/** The columns of a `LogRow`. `syncId` is text: an `order by` must name `sync_actions.sync_id`, or '10' sorts before '9'. */
export const LOG_COLUMNS = `sync_id::text as "syncId", event_id as "eventId", workspace_id as "workspaceId", group_id as "groupId",
  model as "modelName", model_id as "modelId", action, record::text as record, data::text as data, changed, completes,
  actor_id as "actorId", client_id as "clientId", client_tx_id as "clientTxId",
  ${isoTimeSql('created_at')} as "createdAt"`;

const READ = `select (select ${HEAD})::text as head, floor::text, epoch::text, page.* from sync.log_state left join (
    select ${LOG_COLUMNS}, sync_id as position from sync.sync_actions
    where sync_id > $1::bigint order by sync_actions.sync_id limit $2::int
  ) page on true order by page.position`;

/** Reads the entries of all groups. */
export class LogReader {
  readonly #database: Queryable;

  constructor(database: Queryable) {
    this.#database = database;
  }

  async head(): Promise<LogState> {
    const { rows } = await this.#database.query<{ epoch: string; floor: string; head: string }>(
      `select epoch::text, ${CLIENT_FLOOR}::text as floor, ${HEAD}::text as head from sync.log_state`,
    );
    const { epoch, floor, head } = stateRow(rows);
    return { epoch, floor: BigInt(floor), head: BigInt(head) };
  }

  /** The first entries after `after`, with the head of the same snapshot. */
  async read(after: bigint, limit: number): Promise<Required<LogPage>> {
    const { rows } = await this.#database.query<LogRow & { head: string; floor: string; epoch: string }>({
      name: 'read_log',
      text: READ,
      values: [after.toString(), limit],
    });
    const { head, floor, epoch } = stateRow(rows);
    // An empty page has one row, with the state of the log alone.
    const entries = rows.filter(({ syncId }) => syncId !== null).map(storedEntry);
    return { entries, head: BigInt(head), floor: BigInt(floor), epoch };
  }

  /** The position before the last `count` entries that the log still has. */
  async before(count: number): Promise<bigint> {
    const { rows } = await this.#database.query<{ at: string }>(
      `select coalesce((select sync_id from sync.sync_actions where sync_id > ${CLIENT_FLOOR}
         order by sync_actions.sync_id desc offset $1 limit 1), ${CLIENT_FLOOR})::text as at from sync.log_state`,
      [count],
    );
    return BigInt(stateRow(rows).at);
  }

  /** The entries at these positions, for answering a replayed transaction. Trimmed entries are missing. */
  async at(positions: readonly bigint[]): Promise<Map<bigint, StoredEntry>> {
    if (positions.length === 0) return new Map();
    const { rows } = await this.#database.query<LogRow>(
      `select ${LOG_COLUMNS} from sync.sync_actions where sync_id = any($1::bigint[])`,
      [positions.map(String)],
    );
    return new Map(rows.map((row) => [BigInt(row.syncId), storedEntry(row)]));
  }
}

/** Field by field, because a row has more columns than an entry that is sent may have. */
export function storedEntry(row: LogRow): StoredEntry {
  const record = JSON.parse(row.record) as ModelRecord;
  return {
    syncId: row.syncId,
    modelName: row.modelName,
    modelId: row.modelId,
    action: row.action,
    data: row.data === null ? record : (JSON.parse(row.data) as { [field: string]: unknown }),
    groupId: row.groupId,
    clientTxId: row.clientTxId,
    clientId: row.clientId,
    createdAt: row.createdAt,
    eventId: row.eventId,
    workspaceId: row.workspaceId,
    actorId: row.actorId,
    record,
    changed: row.changed,
    completes: row.completes,
  };
}
