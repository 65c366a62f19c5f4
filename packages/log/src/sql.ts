/*
 * The state of the log as SQL, for every statement that reads it: places and state are then of one snapshot.
 */

/**
 * The one row that says what the log is. Named by its key: the connections that commit may scan no table, and the price
 * PostgreSQL puts on doing so all the same makes it compile the statement, for half a second, where it can (JIT).
 */
export const LOG_STATE = `sync.log_state where is_only_row`;

/**
 * The head of the log: its last place, or where its epoch began. Every reader takes it from here, because the gap before an
 * epoch has no entry to be found by.
 */
export const HEAD = `greatest(coalesce((select sync_id from sync.sync_actions order by sync_id desc limit 1), 0), (select began_at from ${LOG_STATE}))`;

/** The place a client's cursor must be at or past: nothing that follows it was trimmed or lost. */
export const CLIENT_FLOOR = `greatest(floor, began_at)`;

/** The entries that open a group to a person or close it, and which group it is. */
export const IS_MOVE = `(model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE'))`;
export const MOVED_GROUP = `coalesce(record->>'projectId', record->>'workspaceId')`;
