import { PreparedStatement } from './prepared.ts';

/*
 * Ids of all groups that ever were: of workspaces, people and projects, also of those that are deleted and whose entries were
 * trimmed. None of them is used again. Keeps sync.group.used-once.
 */

export const USED_GROUPS = new PreparedStatement('uuid[]', 'select id from sync.used_groups where id = any($1)');

/**
 * Fails when another transaction has used one of these ids: the unique index decides. Inserts them in order, so that two
 * transactions never wait for each other (a deadlock).
 */
export const USE_GROUPS = new PreparedStatement(
  'uuid[]',
  'insert into sync.used_groups select id from unnest($1) as id order by id',
);
