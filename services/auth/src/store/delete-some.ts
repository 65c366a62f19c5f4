import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/** In one round of the maintenance; the next one deletes more. */
export const DELETED_MAX = 10_000;
/** By a request, besides its own work: more rows than it adds, so that a table holds about those that have not ended. */
export const DELETED_AT_ONCE = 20;

interface Some {
  readonly table: string;
  readonly key?: string;
  /** A condition of a row `t`, which an index supports. */
  readonly where: string;
  /** The column by which the oldest rows go first; without it any do. */
  readonly oldestBy?: string;
  readonly most?: number;
}

/** Deletes some of the rows that meet a condition, without those that another transaction has locked. Returns how many. */
export async function deleteSome(
  knex: Knex,
  { table, key = 'id', where, oldestBy, most = DELETED_MAX }: Some,
  values: Readonly<Record<string, number>> = {},
): Promise<number> {
  const order = oldestBy === undefined ? '' : `order by ${oldestBy}`;
  const some = `select ${key} from auth.${table} t where ${where} ${order} limit ${most} for update skip locked`;
  return (await rows(knex, `delete from auth.${table} where ${key} in (${some}) returning ${key}`, values)).length;
}
