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
 * Each side reads from its place on in the order of an index that has the whole list, `<table>_order_idx`. Without it a place in a list
 * of 60 000 tasks took 0.1 s, and a request of a hundred places stopped the commits of others for ten.
 */
export const LIST_WINDOW = preparedByKey((model: Model, kind: string) => {
  const field = listFieldOf(model);
  const own = field === null ? '' : ` and ${snakeCase(field)} ${kind === 'parent' ? '= $5' : 'is null'}`;
  // With the parent, because PostgreSQL does not know that a column which is null is always the same.
  const order = [...(field === null ? [] : [snakeCase(field)]), RANK, 'id'];
  const visible =
    field === null
      ? ` and (group_id = $1 or group_id in (select project_id from sync.project_members where user_id = $4 and workspace_id = $1))`
      : '';
  const part = (side: 'after' | 'before', compared: string, direction: string): string =>
    `(select '${side}' as side, id, ${RANK} as rank from ${layoutOf(model).table}
      where workspace_id = $1${own}${visible} and (${RANK}, id) ${compared} ($2, $3) order by ${order.map((column) => column + direction).join(', ')} limit ${WINDOW_MAX})`;
  return new PreparedStatement(
    kind === 'parent' ? 'uuid, text, uuid, uuid, uuid' : 'uuid, text, uuid, uuid',
    `select side, id, rank from (${part('after', '>=', '')} union all ${part('before', '<', ' desc')}) near`,
  );
});
