import type { GrantScope } from '@wts/contracts';
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
export interface Membership {
  readonly userId: string;
  readonly joinedAt: string;
}

/** How a member reaches a workspace. */
export interface StoredAccess {
  readonly userId: string;
  readonly emailVerified: boolean;
  readonly signsInWith: readonly ('password' | 'provider')[];
  /** Null for a person who has no account here. */
  readonly hasSecondFactor: boolean | null;
  readonly lastSignInAt: Date | null;
  readonly apiKeys: number;
  readonly apps: number;
}

export interface StoredApp {
  readonly id: string;
  readonly userId: string;
  readonly name: string | null;
  readonly clientId: string;
  readonly redirectUri: string | null;
  readonly scopes: readonly GrantScope[];
  readonly coversOtherWorkspaces: boolean;
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
  /** Up to so many members are asked one by one. */
  readonly fewMembersMax?: number;
}

/** What reaches a workspace: keys, grants and events of its members, without those for other workspaces. */
export interface WorkspaceAccessReads {
  /** Of each of these people, in any order. */
  access(workspaceId: string, userIds: readonly string[]): Promise<StoredAccess[]>;
  apps(workspaceId: string, members: readonly Membership[], page: Page): Promise<StoredApp[]>;
  /** The newest first. */
  events(workspaceId: string, members: readonly Membership[], page: EventsPage): Promise<ListedEvent[]>;
}

/** Asking each member for a page costs a page for each; of more members, the newest events of all people have enough of theirs. */
const FEW_MEMBERS_MAX = 200;

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
    // Indexes grants (user_id) and codes (grant_id).
    apps: (workspaceId, members, { after = null, limit }) => {
      const sql = `select g.id, g.user_id as "userId", g.client_name as name, g.client_id as "clientId", g.scopes,
          (select c.redirect_uri from auth.codes c where c.grant_id = g.id limit 1) as "redirectUri",
          g.workspace_id is null as "coversOtherWorkspaces", g.created_at as "createdAt", g.used_at as "lastUsedAt",
          g.expires_at as "expiresAt"
        from ${MEMBERS} join lateral (
          select * from auth.grants where user_id = m.user_id and ${GRANT_IN_USE} and ${IN_REACH}) g on true
        where cast(:after as uuid) is null or g.id > :after
        order by g.id limit :limit`;
      return rows<StoredApp>(knex, sql, { workspaceId, ...bindingsOf(members), after, limit });
    },
    events: (workspaceId, members, { kinds, before, limit, fewMembersMax = FEW_MEMBERS_MAX }) => {
      const ofMembers = members.length > fewMembersMax ? OF_MANY_MEMBERS : OF_FEW_MEMBERS;
      const page = { kinds, at: before?.at ?? null, id: before?.id ?? null, limit };
      return rows<ListedEvent>(knex, eventsSql(ofMembers), { workspaceId, ...bindingsOf(members), ...page });
    },
  };
}

/** The members, as `m` with their workspace. */
const MEMBERS = `(select user_id, joined_at, cast(:workspaceId as uuid) as workspace_id
  from unnest(cast(:userIds as uuid[]), cast(:joined as timestamptz[])) member (user_id, joined_at)) m`;

function bindingsOf(members: readonly Membership[]): { readonly userIds: string[]; readonly joined: string[] } {
  return { userIds: members.map(({ userId }) => userId), joined: members.map(({ joinedAt }) => joinedAt) };
}

const IS_BEFORE = `(cast(:at as timestamptz) is null or (e.at, e.id) < (cast(:at as timestamptz), cast(:id as uuid)))`;
const NEWEST = `order by e.at desc, e.id desc limit :limit`;

const COLUMNS = `e.id, e.at, e.kind, e.user_id, e.workspace_id, e.subject_id, e.actor, e.actor_id, e.network, e.browser, e.details`;
const IS_OF_MEMBER = `e.user_id = m.user_id and e.workspace_id is null and e.kind = any(:kinds) and e.at >= m.joined_at`;

/** Index events (user_id, at, id), of each member. */
const OF_FEW_MEMBERS = `select e.* from ${MEMBERS}
  cross join lateral (select ${COLUMNS} from auth.events e where ${IS_OF_MEMBER} and ${IS_BEFORE} ${NEWEST}) e`;
/** Index events (at). */
const OF_MANY_MEMBERS = `select ${COLUMNS} from auth.events e join ${MEMBERS} on ${IS_OF_MEMBER} where ${IS_BEFORE}`;

/** Index events (workspace_id, at, id), and those above. */
function eventsSql(ofMembers: string): string {
  return `select ${EVENT_COLUMNS}, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place from (
      (select ${COLUMNS} from auth.events e where e.workspace_id = :workspaceId and ${IS_BEFORE} ${NEWEST})
      union all (${ofMembers} ${NEWEST})
    ) e ${NEWEST}`;
}
