import { layoutOf, listFieldOf, RANK_FIELD, snakeCase, type Model } from '@wts/models';
import { PreparedStatement, preparedByKey } from './prepared.ts';

/** A record of an ordered list. */
export interface Ranked {
  readonly id: string;
  readonly rank: string;
}

/** Records on each side of one that a window includes. */
export const WINDOW_MAX = 100;

/** Ranks are compared byte by byte, as clients compare them; records of one rank are in the order of their ids. */
const RANK = `${snakeCase(RANK_FIELD)} collate "C"`;

/**
 * The records around a place in a list, at most `WINDOW_MAX` on each side, each side in the order of its distance. The list is that of
 * a parent, or of a workspace where the parent is null; of projects, it has those that are not private and those of the person.
 *
 * Each part reads in the order of an index or sorts one list: those of a greater or smaller rank by `tasks_order_idx`, which has only
 * tasks with a rank, and those of the same rank, which may be all that clients made without one, by the list.
 */
export const LIST_WINDOW = preparedByKey((model: Model, kind: string) => {
  const field = listFieldOf(model);
  const own = field === null ? '' : ` and ${snakeCase(field)} ${kind === 'parent' ? '= $5' : 'is null'}`;
  const visible =
    field === null
      ? ` and (group_id = $1 or group_id in (select project_id from sync.project_members where user_id = $4 and workspace_id = $1))`
      : '';
  const part = (side: 'after' | 'before', where: string): string => {
    const direction = side === 'after' ? '' : ' desc';
    return `(select '${side}' as side, id, ${RANK} as rank from ${layoutOf(model).table}
      where workspace_id = $1${own}${visible} and ${where} order by ${RANK}${direction}, id${direction} limit ${WINDOW_MAX})`;
  };
  return new PreparedStatement(
    kind === 'parent' ? 'uuid, text, uuid, uuid, uuid' : 'uuid, text, uuid, uuid',
    `select side, id, rank from (${[
      part('after', `${RANK} = $2 and id >= $3`),
      part('after', `${RANK} > $2 and ${snakeCase(RANK_FIELD)} <> ''`),
      part('before', `${RANK} = $2 and id < $3`),
      part('before', `${RANK} < $2 and ${snakeCase(RANK_FIELD)} <> ''`),
      part('before', `${RANK} = '' and '' < $2`),
    ].join(' union all ')}) near`,
  );
});
