/*
 * The state of the log as SQL, so that a statement reads it in the same snapshot as its entries.
 */

/**
 * The one row with the state of the log, found by its key: the connections that commit may scan no table, and the cost that
 * PostgreSQL then puts on a scan would make it compile the statement (JIT) for half a second.
 */
export const LOG_STATE = `sync.log_state where is_only_row`;

/** The head of the log: its last position, or where its epoch began, because the gap before an epoch has no entry. */
export const HEAD = `greatest(coalesce((select sync_id from sync.sync_actions order by sync_id desc limit 1), 0), (select began_at from ${LOG_STATE}))`;

/** A client's cursor must be at or past this position: no entry after it was trimmed or lost. */
export const CLIENT_FLOOR = `greatest(floor, began_at)`;

/** A time as records, entries and answers have it. */
export function isoTimeSql(value: string, precision: 'MS' | 'US' = 'MS'): string {
  return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${precision}"Z"')`;
}

/** An entry by which a person gains or loses a group. */
export const IS_GAIN_OR_LOSS = `(model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE'))`;
/** The group of such an entry. */
export const GAINED_OR_LOST = `coalesce(record->>'projectId', record->>'workspaceId')`;
