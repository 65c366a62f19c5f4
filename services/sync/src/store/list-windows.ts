import { layoutOf, listFieldOf, RANK_FIELD, snakeCase, type Model } from '@wts/models';
import { ownProjectsSql } from '@wts/read-model';
import { PreparedStatement, preparedByKey } from './prepared.ts';

/** A record of an ordered list. */
export interface Ranked {
  readonly id: string;
  readonly rank: string;
}

/** Ranked records on each side of one that a window includes. */
export const WINDOW_MAX = 100;

/** Records without a rank that a list may have so that a window includes them: all of one that people made by hand, read in 1 ms. */
export const UNRANKED_MAX = 500;

/** Ranks are compared byte by byte, as clients compare them; records of one rank are in the order of their ids. */
const RANK = `${snakeCase(RANK_FIELD)} collate "C"`;

/**
 * The records around a place in a list: at most `WINDOW_MAX` with a rank on each side, and those without one where the first side has
 * fewer, at most one more than `UNRANKED_MAX`. The list is that of a parent, or of a workspace where the parent is null; of projects,
 * it has those that are not private and those of the person.
 *
 * Each side reads from its place on in the order of `<table>_order_idx`, and the rest by `<table>_unranked_idx`. Without them a place
 * in a list of 60 000 tasks took 0.1 s, and a request of a hundred places stopped the commits of others for ten.
 */
export const LIST_WINDOW = preparedByKey((model: Model, kind: string) => {
  const field = listFieldOf(model);
  const own = field === null ? '' : ` and ${snakeCase(field)} ${kind === 'parent' ? '= $5' : 'is null'}`;
  const visible = field === null ? ` and (group_id = $1 or group_id in (${ownProjectsSql('$4', '$1')}))` : '';
  const list = `from ${layoutOf(model).table} where workspace_id = $1${own}${visible}`;
  // With the parent, because PostgreSQL does not know that a column which is null is always the same.
  const order = [...(field === null ? [] : [snakeCase(field)]), RANK, 'id'];
  const side = (compared: string, direction: string): string =>
    `select id, ${RANK} as rank ${list} and ${RANK} > '' and (${RANK}, id) ${compared} ($2, $3)
      order by ${order.map((column) => column + direction).join(', ')} limit ${WINDOW_MAX}`;
  return new PreparedStatement(
    kind === 'parent' ? 'uuid, text, uuid, uuid, uuid' : 'uuid, text, uuid, uuid',
    `with before as materialized (${side('<', ' desc')})
      select id, rank from before union all (${side('>=', '')}) union all (select id, ${RANK} as rank ${list} and ${RANK} = ''
        and (select count(*) from before) < ${WINDOW_MAX} limit ${UNRANKED_MAX + 1})`,
  );
});
