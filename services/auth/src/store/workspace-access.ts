import type { MemberAccess, Member, WorkspaceApp } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { StoredEvent } from '../domain/security-event.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';
import { EVENT_COLUMNS } from './events.ts';
import { lacksFactorSql } from './second-factors.ts';

/** A page of a list that ascends by an id. */
interface Page {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A person in a workspace, and since when. */
type Membership = Pick<Member, 'userId' | 'joinedAt'>;

/** How a member reaches a workspace. */
interface StoredAccess extends Omit<MemberAccess, Exclude<keyof Member, 'userId'> | 'lastSignInAt'> {
  readonly lastSignInAt: Date | null;
}

export interface StoredApp extends Omit<WorkspaceApp, 'redirectHost' | 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  readonly redirectUri: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

/** An event with its place in the list, to the microsecond. */
export interface ListedEvent extends StoredEvent {
  readonly place: string;
}

export interface EventsPage {
  /** What members do for all their workspaces is listed of these kinds only. */
  readonly kinds: readonly string[];
  readonly before: { readonly at: string; readonly id: string } | null;
  readonly limit: number;
}

/** What reaches a workspace: keys, grants and events of its members, without those for other workspaces. */
export interface WorkspaceAccessReads {
  /** Of each of these people, in any order. */
  access(workspaceId: string, userIds: readonly string[]): Promise<StoredAccess[]>;
  /** Of these people; null: of all. By id. */
  apps(workspaceId: string, members: readonly Membership[] | null, page: Page): Promise<StoredApp[]>;
  /** For the workspace alone, the newest first. */
  events(workspaceId: string, page: EventsPage): Promise<ListedEvent[]>;
  /** For no workspace alone, of these people since they joined; null: of all. The newest first. */
  personalEvents(members: readonly Membership[] | null, page: EventsPage): Promise<ListedEvent[]>;
}

const IN_REACH = `(workspace_id is null or workspace_id = m.workspace_id)`;
const GRANT_IN_USE = `used_at is not null and revoked_at is null and expires_at > now()`;

export function workspaceAccessReads(knex: Knex): WorkspaceAccessReads {
  return {
    // Of each member the indexes identities, events, api_keys and grants (user_id).
    access: (workspaceId, userIds) => {
      const sql = `select m.user_id as "userId", i.verified as "emailVerified", i.ways as "signsInWith",
          case when 'password' = any(i.ways) then not ${lacksFactorSql('m.user_id')} end as "hasSecondFactor",
          (select e.at from auth.events e where e.user_id = m.user_id and e.kind = 'sign-in'
            order by e.at desc limit 1) as "lastSignInAt",
          (select count(*)::int from auth.api_keys where user_id = m.user_id and revoked_at is null
            and (expires_at is null or expires_at > now()) and ${IN_REACH}) as "apiKeys",
          (select count(*)::int from auth.grants where user_id = m.user_id and ${GRANT_IN_USE} and ${IN_REACH}) as apps
        from ${MEMBERS}
        cross join lateral (
          select coalesce(bool_or(i.email_verified or coalesce(a.email_verified, false)), false) as verified,
            coalesce(array_agg(distinct case when i.issuer = :issuer then 'password' else 'provider' end), '{}') as ways
          from auth.identities i left join auth.accounts a on i.issuer = :issuer and a.id::text = i.subject
          where i.user_id = m.user_id) i`;
      const members = bindingsOf(userIds.map((userId) => ({ userId, joinedAt: '-infinity' })));
      return rows<StoredAccess>(knex, sql, { workspaceId, ...members, issuer: ACCOUNT_ISSUER });
    },
    // Indexes grants (user_id), or the primary key, and codes (grant_id).
    apps: (workspaceId, members, { after = null, limit }) => {
      const isListed = `${GRANT_IN_USE} and (workspace_id is null or workspace_id = :workspaceId)
          and (cast(:after as uuid) is null or id > :after)`;
      const from =
        members === null
          ? `(select * from auth.grants where ${isListed} order by id limit :limit) g`
          : `${MEMBERS} join lateral (select * from auth.grants where user_id = m.user_id and ${isListed}) g on true`;
      const sql = `select g.id, g.user_id as "userId", g.client_name as name, g.client_id as "clientId", g.scopes,
          (select c.redirect_uri from auth.codes c where c.grant_id = g.id limit 1) as "redirectUri",
          g.workspace_id is null as "coversOtherWorkspaces", g.created_at as "createdAt", g.used_at as "lastUsedAt",
          g.expires_at as "expiresAt"
        from ${from} order by g.id limit :limit`;
      return rows<StoredApp>(knex, sql, { workspaceId, ...bindingsOf(members ?? []), after, limit });
    },
    // Index events (workspace_id, at, id).
    events: (workspaceId, page) =>
      rows(knex, `${LISTED} where e.workspace_id = :workspaceId and ${IS_BEFORE} ${NEWEST}`, {
        workspaceId,
        ...endOf(page),
      }),
    // Index events (user_id, at, id), of each member, or events (at).
    personalEvents: (members, { kinds, ...page }) => {
      const sql =
        members === null
          ? `${LISTED} where e.user_id is not null and ${IS_PERSONAL} and ${IS_BEFORE} ${NEWEST}`
          : `select e.* from ${MEMBERS} cross join lateral (
              ${LISTED} where e.user_id = m.user_id and ${IS_PERSONAL} and e.at >= m.joined_at and ${IS_BEFORE} ${NEWEST}) e ${NEWEST}`;
      return rows(knex, sql, { workspaceId: null, ...bindingsOf(members ?? []), kinds, ...endOf(page) });
    },
  };
}

/** The members, as `m` with their workspace. */
const MEMBERS = `(select user_id, joined_at, cast(:workspaceId as uuid) as workspace_id
  from unnest(cast(:userIds as uuid[]), cast(:joined as timestamptz[])) member (user_id, joined_at)) m`;

function bindingsOf(members: readonly Membership[]): { readonly userIds: string[]; readonly joined: string[] } {
  return { userIds: members.map(({ userId }) => userId), joined: members.map(({ joinedAt }) => joinedAt) };
}

function endOf({ before, limit }: Pick<EventsPage, 'before' | 'limit'>) {
  return { at: before?.at ?? null, id: before?.id ?? null, limit };
}

const LISTED = `select ${EVENT_COLUMNS}, ${isoTimeSql('e.at', 'US')} as place from auth.events e`;
const IS_PERSONAL = `e.workspace_id is null and e.kind = any(:kinds)`;
const IS_BEFORE = `(cast(:at as timestamptz) is null or (e.at, e.id) < (cast(:at as timestamptz), cast(:id as uuid)))`;
const NEWEST = `order by e.at desc, e.id desc limit :limit`;
