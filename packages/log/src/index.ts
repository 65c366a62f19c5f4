export { Entry } from './entry.ts';
export { withJsonText } from './json-text.ts';
export { LOG_COLUMNS, LogReader, storedEntry, type LogHead, type LogPage, type LogRow } from './log-reader.ts';
export { seldomWarning, type Logger } from './logger.ts';
export { stateRow, type Queryable } from './queryable.ts';
export { groupList, hasEntries, readEntries, readEntriesAtHead } from './read-entries.ts';
export type { EntryPage, EntryRange } from './read-entries.ts';
export { CLIENT_FLOOR, HEAD, IS_GAIN_OR_LOSS, LOG_STATE, GAINED_OR_LOST, isoTimeSql } from './sql.ts';
