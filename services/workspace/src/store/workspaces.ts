import type { Member, Role, Workspace } from '@wts/contracts';
import type { RecordOf, User } from '@wts/models';
import { membershipsSql } from '@wts/read-model';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/**
 * Reads the tables of the sync service, with a role that can only read them. `record` holds what clients see. Every read
 * joins a membership of the caller, so that no query can return a workspace of others. Keeps workspaces.list.own-only.
 */
export interface WorkspaceReads {
  listOf(userId: string, only: string | null): Promise<Workspace[]>;
  bySlug(userId: string, urlKey: string): Promise<Workspace | null>;
  byId(userId: string, workspaceId: string): Promise<Workspace | null>;
  /** The id of the membership, for a commit that changes it. */
  membershipIdOf(userId: string, workspaceId: string): Promise<string | null>;
  membersOf(workspaceId: string): Promise<Member[]>;
}

interface WorkspaceRow {
  readonly record: Omit<Workspace, 'role'>;
  readonly role: Role;
}

export interface MemberRow {
  readonly person: RecordOf<typeof User>;
  readonly role: Role;
  readonly joinedAt: string;
}

export function workspaceReads(knex: Knex): WorkspaceReads {
  const own = `(${membershipsSql(':userId')}) m`;
  const select = `select w.record, m.role from ${own} join sync.workspaces w on w.id = m.workspace_id`;
  const one = async (condition: string, values: Readonly<Record<string, string>>): Promise<Workspace | null> => {
    const found = await firstRow<WorkspaceRow>(knex, `${select} where ${condition}`, values);
    return found && workspaceReply(found.record, found.role);
  };
  return {
    listOf: async (userId, only) => {
      const sql = `${select} where w.archived_at is null and (w.id = :only or cast(:only as uuid) is null) order by lower(w.name), w.id`;
      return (await rows<WorkspaceRow>(knex, sql, { userId, only })).map(({ record, role }) =>
        workspaceReply(record, role),
      );
    },
    // Searches the person's own workspaces, not the index of all slugs, so that the time does not reveal slugs of others.
    bySlug: (userId, urlKey) => one(`w.url_key || '' = :urlKey`, { userId, urlKey }),
    byId: (userId, workspaceId) => one('w.id = :workspaceId', { userId, workspaceId }),
    membershipIdOf: async (userId, workspaceId) => {
      const sql = `select m.id from ${own} where m.workspace_id = :workspaceId`;
      return (await firstRow<{ id: string }>(knex, sql, { userId, workspaceId }))?.id ?? null;
    },
    // Unique index workspace_members (workspace_id, user_id), primary key of users.
    membersOf: async (workspaceId) => {
      const sql = `select u.record as person, m.role, m.record ->> 'createdAt' as "joinedAt"
        from sync.workspace_members m join sync.users u on u.id = m.user_id
        where m.workspace_id = :workspaceId order by m.created_at, m.id`;
      return (await rows<MemberRow>(knex, sql, { workspaceId })).map(memberReply);
    },
  };
}

/** A workspace as one of its members sees it. */
export function workspaceReply(record: Omit<Workspace, 'role'>, role: Role): Workspace {
  const { id, name, urlKey, logoUrl, createdAt, updatedAt, archivedAt } = record;
  return { id, name, urlKey, logoUrl, role, createdAt, updatedAt, archivedAt };
}

/** A person as others in the workspace see them. */
export function memberReply({ person, role, joinedAt }: MemberRow): Member {
  const { id: userId, name, email, avatarUrl } = person;
  return { userId, name, email, avatarUrl, role, joinedAt };
}
