import { isUuid, parseSyncId, type SyncAction } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { Visibility } from '@wts/read-model';
import { invalid } from '../domain/errors.ts';
import { pageSizeOf } from '../domain/page-size.ts';
import { StatementWriter, type Reader, type Statement } from './statement.ts';

/*
 * The history of a record, from the log. An entry is shown by the same rule as in deltas and on sockets (`Visibility`): the reader is
 * in its group, and it follows their latest gain of the group. Keeps graphql.history.visible.
 */

export interface HistoryRequest {
  readonly modelId: string;
  readonly limit: number;
  /** Only entries before this position. */
  readonly before: bigint | null;
}

export interface HistoryEntry extends SyncAction {
  readonly actorId: string;
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly hasMore: boolean;
}

type EntryRow = HistoryEntry & { readonly workspaceId: string | null };

const CURSOR = /^h1:(\d{1,19})$/;

export function historyRequestOf(given: {
  readonly modelId: string;
  readonly first?: number | null;
  readonly after?: string | null;
}): HistoryRequest {
  const limit = pageSizeOf(given.first);
  if (!isUuid(given.modelId)) throw invalid('modelId must be a UUID');
  return { modelId: given.modelId.toLowerCase(), limit, before: positionOf(given.after ?? null) };
}

export function historyCursorOf({ syncId }: Pick<HistoryEntry, 'syncId'>): string {
  return Buffer.from(`h1:${syncId}`).toString('base64url');
}

function positionOf(cursor: string | null): bigint | null {
  if (cursor === null) return null;
  const [, digits = ''] = CURSOR.exec(Buffer.from(cursor.slice(0, 100), 'base64url').toString('latin1')) ?? [];
  const position = parseSyncId(digits);
  if (position === null) throw invalid('This cursor is not one of a history. Start again without a cursor.');
  return position;
}

/** Reads until the page is full or the log has no more. A page that the reader may see as a whole takes one statement. */
export async function readHistory(
  { modelId, limit, before }: HistoryRequest,
  reader: Reader,
  read: (statement: Statement) => Promise<unknown>,
): Promise<History> {
  const { userId, workspaceId, person } = reader;
  const visibility = new Visibility({ userId, workspaceId: workspaceId ?? undefined }, person);
  const entries: HistoryEntry[] = [];
  // Entries after the position for which the groups are exact could be of a group that was lost since.
  let end = before !== null && before <= person.at ? before - 1n : person.at;
  // Where one entry is before the gain of its group, all earlier ones of the group are too.
  const ended = new Set<string>();
  for (;;) {
    const page = { end, count: limit + 1, ended: [...ended] };
    const rows = (await read(entriesStatement(reader, modelId, page))) as readonly EntryRow[];
    for (const row of rows) {
      if (visibility.allows({ ...row, id: BigInt(row.syncId) })) entries.push(row);
      else ended.add(row.groupId);
    }
    const last = rows.at(-1);
    if (entries.length > limit) return { entries: entries.slice(0, limit), hasMore: true };
    if (last === undefined || rows.length <= limit) return { entries, hasMore: false };
    end = BigInt(last.syncId) - 1n;
  }
}

interface EntriesPage {
  readonly end: bigint;
  readonly count: number;
  /** Groups without further visible entries. */
  readonly ended: readonly string[];
}

/** Relies on index sync_actions (model_id, sync_id). */
function entriesStatement(reader: Reader, modelId: string, { end, count, ended }: EntriesPage): Statement {
  const sql = new StatementWriter(reader);
  const own = `entry.model_id = ${sql.add(modelId, 'uuid')} and entry.sync_id <= ${sql.add(end.toString(), 'bigint')}`;
  const groups = `entry.group_id = any(${sql.viewer.groups}) and entry.group_id <> all(${sql.add(ended, 'uuid[]')})`;
  return sql.finish(`select coalesce(json_agg(page), '[]') as found from (
      select sync_id::text as "syncId", group_id as "groupId", workspace_id as "workspaceId", model as "modelName", model_id as "modelId", action,
        coalesce(data, record) as data, client_id as "clientId", client_tx_id as "clientTxId", actor_id as "actorId",
        ${isoTimeSql('created_at')} as "createdAt"
      from sync.sync_actions entry where ${own} and ${groups} order by entry.sync_id desc limit ${count}
    ) page`);
}
