import type { OperatorWorkspace, RecordCounts } from '@wts/contracts';
import { isoTimeSql, type Queryable } from '@wts/log';
import { hasRoleSql } from '@wts/read-model';
import { isHere } from './moves.ts';
import type { Page } from './people.ts';

/** What the auth service shows operators of workspaces, which are records here. */

const OWNERS_MAX = 10;
const WORKSPACE = `w.id, w.name, w.url_key as "urlKey", ${isoTimeSql('w.created_at')} as "createdAt",
  ${isoTimeSql('w.archived_at')} as "archivedAt",
  (select count(*)::int from sync.workspace_members m where m.workspace_id = w.id) as members,
  (select coalesce(json_agg(json_build_object('userId', o.id, 'name', o.name) order by o.joined_at, o.id), '[]') from (
    select u.id, u.name, m.created_at as joined_at from sync.workspace_members m join sync.users u on u.id = m.user_id
    where m.workspace_id = w.id and ${hasRoleSql('m', 'owner')} order by m.created_at, u.id limit ${OWNERS_MAX}) o) as owners`;

interface WorkspacesPage extends Page {
  readonly text?: string | null | undefined;
  readonly id?: string | undefined;
  readonly urlKey?: string | undefined;
}

/** By name. Reads all workspaces, unless one is named. */
export async function findWorkspaces(
  database: Queryable,
  { text = null, id, urlKey, after, limit }: WorkspacesPage,
): Promise<OperatorWorkspace[]> {
  const named = `($1::uuid is null or w.id = $1) and ($2::text is null or w.url_key = $2)`;
  const sql = `select ${WORKSPACE} from sync.workspaces w where ${named}
      and ($3::text is null or position(lower($3) in lower(w.name)) > 0 or position(lower($3) in w.url_key) > 0
        or w.id::text = lower($3))
      and ${isHere('w.id')} and ($4::uuid is null or (lower(w.name), w.id) > (select lower(name), id from sync.workspaces where id = $4))
    order by lower(w.name), w.id limit $5`;
  const values = [id ?? null, urlKey ?? null, text, after ?? null, limit];
  return (await database.query<OperatorWorkspace>(sql, values)).rows;
}

/** Reads whole tables, which takes a second for ten million tasks. A server has its start, to the microsecond, with no other. */
const COUNTS = `select
  (select count(*)::int from sync.users) as people,
  (select count(*)::int from sync.workspaces w where archived_at is null and ${isHere('w.id')}) as workspaces,
  (select count(*)::int from sync.workspaces where archived_at is not null) as "workspacesDeleted",
  (select count(*) from sync.tasks)::float8 as tasks,
  json_build_object('id', extract(epoch from pg_postmaster_start_time()) || ' ' || current_database(),
    'bytes', pg_database_size(current_database())) as database`;

export async function countRecords(database: Queryable): Promise<RecordCounts> {
  const [counts] = (await database.query<RecordCounts>(COUNTS)).rows;
  if (counts === undefined) throw new Error('a select without a table has one row');
  return counts;
}
