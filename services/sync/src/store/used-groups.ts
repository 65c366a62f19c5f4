import { Prepared } from './prepared.ts';

/*
 * Ids that name or named a group: of workspaces, people and projects, also of those that are long gone and whose entries
 * were trimmed. None of them is given to another one. Keeps sync.group.used-once.
 */

export const USED_GROUPS = new Prepared('uuid[]', 'select id from sync.used_groups where id = any($1)');

/** Fails where one of them was used meanwhile: the index has the last word. In order, so that two do not wait in a circle. */
export const USE_GROUPS = new Prepared(
  'uuid[]',
  'insert into sync.used_groups select id from unnest($1) as id order by id',
);
