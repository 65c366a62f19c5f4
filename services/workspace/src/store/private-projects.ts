import type { Member, PrivateProject } from '@wts/contracts';
import { projectMembersSql } from '@wts/read-model';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { memberReply, type MemberRow } from './workspaces.ts';

/** At most `limit` items after an id. */
interface Page {
  readonly after: string | null;
  readonly limit: number;
}

/**
 * What owners and admins see of private projects: only the columns named here, so that a new field of the model stays
 * private.
 */
export interface PrivateProjectReads {
  list(workspaceId: string, page: Page): Promise<PrivateProject[]>;
  isPrivateProject(workspaceId: string, projectId: string): Promise<boolean>;
  membersOf(projectId: string, page: Page): Promise<Member[]>;
  memberOf(projectId: string, userId: string): Promise<Member | null>;
  /** The id of the membership, for a commit that changes it. */
  membershipIdOf(projectId: string, userId: string): Promise<string | null>;
}

const MEMBERS = `select u.record as person, pm.role, pm.record ->> 'createdAt' as "joinedAt"
  from (${projectMembersSql(':projectId')}) pm join sync.users u on u.id = pm.user_id`;

export function privateProjectReads(knex: Knex): PrivateProjectReads {
  return {
    // Indexes projects (workspace_id), project_members (project_id, user_id), workspace_members (workspace_id, user_id).
    list: (workspaceId, page) => {
      const sql = `select p.id, p.name, p.key, p.lead_id as "leadId", p.creator_id as "creatorId",
          p.record ->> 'createdAt' as "createdAt", p.record ->> 'archivedAt' as "archivedAt",
          (select count(*)::int from (${projectMembersSql('p.id')}) pm) as "memberCount"
        from sync.projects p
        where p.workspace_id = :workspaceId and p.is_private and (cast(:after as uuid) is null or p.id > :after)
        order by p.id limit :limit`;
      return rows<PrivateProject>(knex, sql, { workspaceId, ...page });
    },
    isPrivateProject: async (workspaceId, projectId) => {
      const sql = `select 1 from sync.projects where id = :projectId and workspace_id = :workspaceId and is_private`;
      return (await rows(knex, sql, { workspaceId, projectId })).length > 0;
    },
    // Unique index project_members (project_id, user_id).
    membersOf: async (projectId, page) => {
      const sql = `${MEMBERS} where cast(:after as uuid) is null or pm.user_id > :after order by pm.user_id limit :limit`;
      return (await rows<MemberRow>(knex, sql, { projectId, ...page })).map(memberReply);
    },
    memberOf: async (projectId, userId) => {
      const found = await firstRow<MemberRow>(knex, `${MEMBERS} where pm.user_id = :userId`, { projectId, userId });
      return found ? memberReply(found) : null;
    },
    membershipIdOf: async (projectId, userId) => {
      const sql = `select id from sync.project_members where project_id = :projectId and user_id = :userId`;
      return (await firstRow<{ id: string }>(knex, sql, { projectId, userId }))?.id ?? null;
    },
  };
}
