import type { Role } from '@wts/contracts';
import { membershipsSql } from '@wts/read-model';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

export interface WorkspaceChoice {
  readonly id: string;
  readonly name: string;
}

/** A workspace of a person. */
export interface Membership extends WorkspaceChoice {
  readonly role: Role;
}

/** Names of workspaces and people for pages, from the records of the sync service. */
export interface WorkspaceReads {
  /** Those of the person, by name. */
  listOf(userId: string): Promise<Membership[]>;
  /** Null for an unknown person. */
  nameOfPerson(userId: string): Promise<string | null>;
}

export function workspaceReads(knex: Knex): WorkspaceReads {
  return {
    listOf: (userId) =>
      rows<Membership>(
        knex,
        `select w.id, w.name, m.role from (${membershipsSql(':userId')}) m join sync.workspaces w on w.id = m.workspace_id
          order by w.name, w.id`,
        { userId },
      ),
    nameOfPerson: async (userId) => {
      const [found] = await rows<{ name: string }>(knex, `select name from sync.users where id = :userId`, { userId });
      return found?.name ?? null;
    },
  };
}
