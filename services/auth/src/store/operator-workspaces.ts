import type { OperatorWorkspace } from '@wts/contracts';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { pageCondition, type Page } from './operator-page.ts';
import { lastSeenSql, timeSql } from './operator-people.ts';

export interface Usage {
  readonly people: number;
  readonly peopleDisabled: number;
  readonly peopleActive: number;
  readonly workspaces: number;
  readonly workspacesDeleted: number;
  readonly tasks: number;
  readonly databaseBytes: number;
}

/** A membership of a person, with what decides about its end. */
export interface OperatorMembership {
  readonly id: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly role: string;
  readonly isOnlyOwner: boolean;
  /** The workspace is deleted, and can be restored. */
  readonly isDeleted: boolean;
}

/** What operators see of workspaces. */
export interface OperatorWorkspaces {
  /** By name. */
  list(page: Page): Promise<OperatorWorkspace[]>;
  find(workspaceId: string): Promise<OperatorWorkspace | null>;
  findByUrlKey(urlKey: string): Promise<OperatorWorkspace | null>;
  membershipsOf(userId: string): Promise<OperatorMembership[]>;
  usage(): Promise<Usage>;
}

const OWNERS_MAX = 10;
const WORKSPACE = `w.id, w.name, w.url_key as "urlKey", ${timeSql('w.created_at')} as "createdAt",
  ${timeSql('w.archived_at')} as "archivedAt",
  (select count(*)::int from sync.workspace_members m where m.workspace_id = w.id) as members,
  (select coalesce(json_agg(json_build_object('userId', o.id, 'name', o.name) order by o.joined_at, o.id), '[]') from (
    select u.id, u.name, m.created_at as joined_at from sync.workspace_members m join sync.users u on u.id = m.user_id
    where m.workspace_id = w.id and m.role = 'owner' order by m.created_at, u.id limit ${OWNERS_MAX}) o) as owners`;
const HAS_TEXT = `(position(lower(:text) in lower(w.name)) > 0 or position(lower(:text) in w.url_key) > 0
  or cast(w.id as text) = lower(:text))`;

export function operatorWorkspaces(knex: Knex): OperatorWorkspaces {
  const first = async (condition: string, value: string): Promise<OperatorWorkspace | null> => {
    const sql = `select ${WORKSPACE} from sync.workspaces w where ${condition}`;
    return (await rows<OperatorWorkspace>(knex, sql, { value }))[0] ?? null;
  };
  return {
    list: ({ text, after, limit }) => {
      const where = pageCondition('w', 'sync.workspaces', HAS_TEXT, { text, after });
      const sql = `select ${WORKSPACE} from sync.workspaces w ${where} order by lower(w.name), w.id limit :limit`;
      return rows<OperatorWorkspace>(knex, sql, { text, after, limit });
    },
    find: (workspaceId) => first('w.id = :value', workspaceId),
    findByUrlKey: (urlKey) => first('w.url_key = :value', urlKey),
    membershipsOf: (userId) => {
      const sql = `select m.id, m.workspace_id as "workspaceId", w.name as "workspaceName", m.role,
          w.archived_at is not null as "isDeleted", m.role = 'owner' and not exists (select from sync.workspace_members o
            where o.workspace_id = m.workspace_id and o.role = 'owner' and o.user_id <> m.user_id) as "isOnlyOwner"
        from sync.workspace_members m join sync.workspaces w on w.id = m.workspace_id
        where m.user_id = :userId order by lower(w.name), m.id`;
      return rows<OperatorMembership>(knex, sql, { userId });
    },
    usage: async () => {
      const [usage] = await rows<UsageRow>(knex, USAGE);
      if (usage === undefined) throw new Error('a select without a table has one row');
      return { ...usage, tasks: Number(usage.tasks), databaseBytes: Number(usage.databaseBytes) };
    },
  };
}

/** The driver gives large numbers as text. */
interface UsageRow extends Omit<Usage, 'tasks' | 'databaseBytes'> {
  readonly tasks: string;
  readonly databaseBytes: string;
}

/** Reads whole tables, which takes a second for ten million tasks. */
const USAGE = `select
  (select count(*)::int from sync.users u
    where not exists (select from auth.disabled_people d where d.user_id = u.id and d.erased_at is not null)) as people,
  (select count(*)::int from auth.disabled_people where erased_at is null) as "peopleDisabled",
  (select count(*)::int from sync.users u where ${lastSeenSql('u.id')} > now() - interval '30 days') as "peopleActive",
  (select count(*)::int from sync.workspaces where archived_at is null) as workspaces,
  (select count(*)::int from sync.workspaces where archived_at is not null) as "workspacesDeleted",
  (select count(*) from sync.tasks) as tasks,
  pg_database_size(current_database()) as "databaseBytes"`;
