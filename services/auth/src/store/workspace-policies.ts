import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { grantStore, type RevokedGrant } from './grants.ts';
import { lacksFactorSql } from './second-factors.ts';

/** What a workspace requires of its members. */
export interface WorkspacePolicyStore {
  requiresSecondFactor(workspaceId: string): Promise<boolean>;
  change(workspaceId: string, change: { readonly requiresSecondFactor: boolean; readonly by: string }): Promise<void>;
  /** Ends the sessions and grants of those of some people who have no second factor. For a transaction. */
  endWithoutFactor(userIds: readonly string[]): Promise<EndedOfPeople>;
}

interface EndedSession {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly browser: string | null;
}

export interface EndedOfPeople {
  /** Also those who had neither. */
  readonly people: readonly string[];
  readonly sessions: readonly EndedSession[];
  readonly grants: readonly RevokedGrant[];
}

export function workspacePolicyStore(knex: Knex): WorkspacePolicyStore {
  return {
    requiresSecondFactor: async (workspaceId) => {
      const sql = `select from auth.workspace_policies where workspace_id = :workspaceId and requires_second_factor`;
      return (await rows(knex, sql, { workspaceId })).length > 0;
    },
    change: async (workspaceId, { requiresSecondFactor, by }) => {
      const sql = `insert into auth.workspace_policies (workspace_id, requires_second_factor, changed_by)
        values (:workspaceId, :requiresSecondFactor, :by)
        on conflict (workspace_id) do update set requires_second_factor = excluded.requires_second_factor,
          changed_by = excluded.changed_by, changed_at = now()`;
      await rows(knex, sql, { workspaceId, requiresSecondFactor, by });
    },
    // Indexes identities, sessions and grants (user_id).
    endWithoutFactor: async (userIds) => {
      const without = `select m.user_id as "userId" from unnest(cast(:userIds as uuid[])) m (user_id)
        where ${lacksFactorSql('m.user_id')}`;
      const people = (await rows<{ userId: string }>(knex, without, { userIds })).map(({ userId }) => userId);
      const ofAccounts = `delete from auth.sessions where user_id = any(:people) and account_id is not null
        returning id, user_id as "userId", account_id as "accountId", browser`;
      const sessions = await rows<EndedSession>(knex, ofAccounts, { people });
      return { people, sessions, grants: await grantStore(knex).revokeAllOf(people) };
    },
  };
}
