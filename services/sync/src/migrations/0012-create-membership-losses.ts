import type { Knex } from 'knex';

export const formerName = '0012-remember-losses';

/**
 * Memberships that ended and roles that were lowered. They are kept here without limit, because the log is trimmed. Removals that
 * the log still holds are copied.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table sync.membership_losses (
    workspace_id uuid not null,
    user_id uuid not null,
    ended integer not null,
    taken_at timestamptz,
    primary key (workspace_id, user_id)
  )`);
  await knex.raw(`insert into sync.membership_losses (workspace_id, user_id, ended, taken_at)
    select group_id, cast(record ->> 'userId' as uuid), count(*), max(created_at) from sync.sync_actions
    where model = 'WorkspaceMember' and action = 'DELETE' and group_id = workspace_id
      and actor_id <> cast(record ->> 'userId' as uuid)
    group by group_id, record ->> 'userId'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.membership_losses`);
}
