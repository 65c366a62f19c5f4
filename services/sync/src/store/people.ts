import type { MembershipChange, MembershipDetail, Member, PersonRecord, WorkspaceOfPerson } from '@wts/contracts';
import { isoTimeSql, type Queryable } from '@wts/log';
import { hasRoleSql } from '@wts/read-model';
import { layoutOf, snakeCase, User, type Model } from '@wts/models';

/** What the auth service reads of people and their memberships, which are records here. */

/** A page in the order of an id, or in that of name and id. */
export interface Page {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Of a person `u`. */
const PERSON = `u.id as "userId", u.name, u.email, ${isoTimeSql('u.created_at')} as "createdAt"`;

/** Null for an unknown one. */
export async function findPerson(database: Queryable, userId: string): Promise<PersonRecord | null> {
  const sql = `select ${PERSON} from sync.users u where u.id = $1`;
  return (await database.query<PersonRecord>(sql, [userId])).rows[0] ?? null;
}

/** The workspaces of a person, or one of them. Index workspace_members (user_id), or unique index (workspace_id, user_id). */
export async function workspacesOf(
  database: Queryable,
  userId: string,
  workspaceId: string | undefined,
): Promise<WorkspaceOfPerson[]> {
  const sql = `select w.id, w.name, m.role from sync.workspace_members m
      join sync.workspaces w on w.id = m.workspace_id
    where m.user_id = $1 ${workspaceId === undefined ? '' : 'and m.workspace_id = $2'} order by w.name, w.id`;
  const values = workspaceId === undefined ? [userId] : [userId, workspaceId];
  return (await database.query<WorkspaceOfPerson>(sql, values)).rows;
}

/** Indexes workspace_members (user_id) and (workspace_id, user_id). */
export async function membershipDetailsOf(database: Queryable, userId: string): Promise<MembershipDetail[]> {
  const sql = `select m.id, m.workspace_id as "workspaceId", w.name, w.url_key as "urlKey", m.role,
      ${isoTimeSql('w.archived_at')} as "archivedAt",
      ${hasRoleSql('m', 'owner')} and not exists (select from sync.workspace_members o
        where o.workspace_id = m.workspace_id and ${hasRoleSql('o', 'owner')} and o.user_id <> m.user_id) as "isOnlyOwner"
    from sync.workspace_members m join sync.workspaces w on w.id = m.workspace_id
    where m.user_id = $1 order by lower(w.name), w.id`;
  return (await database.query<MembershipDetail>(sql, [userId])).rows;
}

/** Unique index workspace_members (workspace_id, user_id). */
export async function membersOf(
  database: Queryable,
  workspaceId: string,
  { userIds, after, limit }: Page & { readonly userIds?: readonly string[] },
): Promise<Member[]> {
  // No condition with "or", with which the index would read all members.
  const isAmong = userIds === undefined ? '' : 'and m.user_id = any($4::uuid[])';
  const sql = `select m.user_id as "userId", u.name, u.email, u.avatar_url as "avatarUrl", m.role,
      ${isoTimeSql('m.created_at')} as "joinedAt"
    from sync.workspace_members m join sync.users u on u.id = m.user_id
    where m.workspace_id = $1 and ($2::uuid is null or m.user_id > $2) ${isAmong} order by m.user_id limit $3`;
  const values = [workspaceId, after ?? null, limit, ...(userIds === undefined ? [] : [userIds])];
  return (await database.query<Member>(sql, values)).rows;
}

interface ChangePage {
  readonly before?: { readonly at: string; readonly id: string };
  readonly limit: number;
}

/**
 * Who joined and left, from the log as long as it is kept: the partial index sync_actions (group_id, sync_id) of moves. Changes of roles:
 * the index (model_id, sync_id), of those who are members now.
 */
const CHANGES = `select event_id as id, created_at, action, model_id as "membershipId", (record->>'userId')::uuid as "userId",
    record->>'role' as role, actor_id as "actorId"
  from sync.sync_actions where group_id = $1 and model = 'WorkspaceMember'`;

/** The newest first. */
export async function membershipChangesOf(
  database: Queryable,
  workspaceId: string,
  { before, limit }: ChangePage,
): Promise<MembershipChange[]> {
  const sql = `select c.id, ${isoTimeSql('c.created_at', 'US')} as at, c.action, c."membershipId", c."userId", c.role, c."actorId"
    from ((${CHANGES} and action in ('INSERT', 'DELETE')) union all (${CHANGES} and action = 'UPDATE' and 'role' = any(changed)
      and model_id in (select id from sync.workspace_members where workspace_id = $1))) c
    where $2::timestamptz is null or (c.created_at, c.id) < ($2::timestamptz, $3::uuid)
    order by c.created_at desc, c.id desc limit $4`;
  const values = [workspaceId, before?.at ?? null, before?.id ?? null, limit];
  return (await database.query<MembershipChange>(sql, values)).rows;
}

interface PeoplePage extends Page {
  readonly text: string | null;
  /** Found too, whatever the text is. */
  readonly orIds: readonly string[];
  /** Those of `orIds` alone. */
  readonly onlyIds?: boolean;
}

/** By name. Reads all people: an operator looks at them a few times a day. */
export async function findPeople(
  database: Queryable,
  { text, orIds, onlyIds = false, after, limit }: PeoplePage,
): Promise<(PersonRecord & { readonly workspaces: number })[]> {
  const sql = `select ${PERSON},
      (select count(*)::int from sync.workspace_members m where m.user_id = u.id) as workspaces
    from sync.users u
    where (u.id = any($2::uuid[]) or (not $5 and ($1::text is null or position(lower($1) in lower(u.name)) > 0
        or position(lower($1) in lower(u.email)) > 0 or u.id::text = lower($1))))
      and ($3::uuid is null or (lower(u.name), u.id) > (select lower(name), id from sync.users where id = $3))
    order by lower(u.name), u.id limit $4`;
  return (
    await database.query<PersonRecord & { workspaces: number }>(sql, [text, orIds, after ?? null, limit, onlyIds])
  ).rows;
}

/** The records of a model that refer to a person, and the person's own. Primary key of each table. */
export async function recordsOfPerson(
  database: Queryable,
  userId: string,
  { model, after, limit }: Page & { readonly model: Model },
): Promise<{ readonly id: string; readonly record: object }[]> {
  const columns = columnsOfPeople(model);
  if (columns.length === 0) return [];
  const isTheirs = columns.map((column) => `${column} = $1`).join(' or ');
  const sql = `select id, record from ${layoutOf(model).table}
    where (${isTheirs}) and ($2::uuid is null or id > $2) order by id limit $3`;
  return (await database.query<{ id: string; record: object }>(sql, [userId, after ?? null, limit])).rows;
}

function columnsOfPeople(model: Model): readonly string[] {
  if (model === User) return ['id'];
  return Object.entries(model.fields).flatMap(([field, { reference }]) =>
    reference?.model === User.name ? [snakeCase(field)] : [],
  );
}
