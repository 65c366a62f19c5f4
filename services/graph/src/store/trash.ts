import { isUuid } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { layoutOf, Task, timestamp, Workspace } from '@wts/models';
import { invalid } from '../domain/errors.ts';
import { pageSizeOf } from '../domain/page-size.ts';
import type { Found } from './connection.ts';
import { recordSql, type Wants } from './record.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * The Trash of a workspace: its archived tasks, the newest first, as far as the reader sees them. Keeps trash.list.
 */

export interface TrashRequest {
  readonly workspaceId: string;
  readonly limit: number;
  readonly after: TrashCursor | null;
  readonly wants: Wants;
}

export interface TrashedTask {
  readonly task: Found;
  readonly archivedAt: string;
  /** The person who archived it; null where the log has no entry of that any more. */
  readonly actorId: string | null;
  /** Null: never. */
  readonly purgesAt: string | null;
}

interface TrashCursor {
  readonly archivedAt: string;
  readonly id: string;
}

const CURSOR = /^t1:(\S{10,40}) ([\da-f-]{36})$/;
const MOMENT = timestamp({ doc: 'A time.' });

export function trashRequestOf(
  given: { readonly workspaceId: string; readonly first?: number | null; readonly after?: string | null },
  wants: Wants,
): TrashRequest {
  const limit = pageSizeOf(given.first);
  return { workspaceId: workspaceOf(given.workspaceId), limit, after: cursorOf(given.after ?? null), wants };
}

export function workspaceOf(id: string): string {
  if (!isUuid(id)) throw invalid('workspaceId must be a UUID');
  return id.toLowerCase();
}

export function trashCursorOf({ task: { id }, archivedAt }: TrashedTask): string {
  return Buffer.from(`t1:${archivedAt} ${id}`).toString('base64url');
}

function cursorOf(cursor: string | null): TrashCursor | null {
  if (cursor === null) return null;
  const [, given = '', id = ''] = CURSOR.exec(Buffer.from(cursor.slice(0, 200), 'base64url').toString('latin1')) ?? [];
  const archivedAt = MOMENT.read(given);
  if (!archivedAt.ok || !isUuid(id)) throw invalid('This cursor is not one of a Trash. Start again without a cursor.');
  return { archivedAt: archivedAt.value, id };
}

/**
 * One page of the Trash: `[TrashedTask]`, with one task more than the page has where there are more. Relies on indexes tasks
 * (group_id, archived_at, id) and sync_actions (model_id, sync_id).
 */
export function trashStatement({ workspaceId, limit, after, wants }: TrashRequest, sql: StatementWriter): Statement {
  const beyond =
    after === null
      ? ''
      : ` and (t.archived_at, t.id) < (${sql.add(after.archivedAt, 'timestamptz')}, ${sql.add(after.id, 'uuid')})`;
  const newest = `order by archived_at desc, id desc limit ${limit + 1}`;
  const home = `(select w.trash_retention_days from ${layoutOf(Workspace).table} w where w.id = ${sql.add(workspaceId, 'uuid')})`;
  const kept = `make_interval(days => greatest(purge.retention_days, ${home}))`;
  return sql.finish(`select coalesce(json_agg(page), '[]') as found from (
      select ${recordSql(Task, 't', wants)} as task, ${isoTimeSql('t.archived_at')} as "archivedAt",
        (select entry.actor_id from sync.sync_actions entry
          where entry.model_id = t.id and entry.action = 'ARCHIVE' and entry.group_id = t.group_id
          order by entry.sync_id desc limit 1) as "actorId",
        (select ${isoTimeSql(`greatest(t.archived_at + ${kept}, purge.waits_until)`)} from sync.purge_state purge
          where purge.retention_days > 0) as "purgesAt"
      from (
        select near.id, near.archived_at from (${sql.groupsIn([workspaceId])}) seen, lateral (
          select t.id, t.archived_at from ${layoutOf(Task).table} t
          where t.group_id = seen.id and t.archived_at is not null${beyond} ${newest}
        ) near ${newest}
      ) first join ${layoutOf(Task).table} t on t.id = first.id order by first.archived_at desc, first.id desc
    ) page`);
}

/** Which tasks of a Trash: all that the reader sees, or those that they may delete for good, where they are a guest. */
export interface TrashPart {
  readonly workspaceId: string;
  readonly isGuest: boolean;
}

/** How many tasks are in that part of the Trash. */
export function trashCountStatement(part: TrashPart, sql: StatementWriter): Statement {
  return sql.finish(`select count(*)::int as found from ${partSql(part, sql)}`);
}

/** The oldest tasks of it: `[{id, archivedAt}]`. */
export function trashIdsStatement(part: TrashPart, limit: number, sql: StatementWriter): Statement {
  return sql.finish(`select coalesce(json_agg(one), '[]') as found from (
      select t.id, ${isoTimeSql('t.archived_at')} as "archivedAt" from ${partSql(part, sql)} order by t.archived_at, t.id limit ${limit}
    ) one`);
}

function partSql({ workspaceId, isGuest }: TrashPart, sql: StatementWriter): string {
  const { userId } = sql.viewer.person;
  const own = isGuest ? ` and (t.creator_id = ${userId} or t.assignee_id = ${userId})` : '';
  return `(${sql.groupsIn([workspaceId])}) seen
      join ${layoutOf(Task).table} t on t.group_id = seen.id and t.archived_at is not null${own}`;
}
