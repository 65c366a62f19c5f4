import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

interface BoundedRows {
  readonly table: string;
  readonly key: 'id' | 'id_hash';
  /** Which rows of the table `c` count. */
  readonly counted: string;
  /** Those that go last, first. */
  readonly order: string;
  readonly rowsMax: number;
}

/** A bound that is reached is not reached again by the next row. */
const DELETED_SHARE = 0.05;

/**
 * Deletes rows that anyone may add, when there are too many: of the networks with most of them, so that no number of networks pushes out the
 * row of another one, and never `added`, whose sender was just told that it exists. Keeps
 * authentication.oauth.register-bounds.
 */
export async function deleteExcessRows(
  knex: Knex,
  { table, key, counted, order, rowsMax }: BoundedRows,
  added: string | Buffer | null,
): Promise<number> {
  const [count] = await rows<{ n: number }>(knex, `select count(*)::integer as n from ${table} c where ${counted}`);
  const excess = (count?.n ?? 0) - rowsMax;
  if (excess <= 0) return 0;
  // Of simultaneous calls each chooses the same rows and waits for the others, in one order, so they delete no more than one call does.
  const sql = `delete from ${table} where ${key} in (
    select ${key} from ${table} where ${key} in (
      select ${key} from (
        select ${key}, row_number() over (partition by network order by ${order}) as place from ${table} c where ${counted}
      ) placed
      where ${key} is distinct from :added order by place desc limit :most
    ) order by ${key} for update
  ) returning ${key}`;
  return (await rows(knex, sql, { added, most: excess + Math.floor(rowsMax * DELETED_SHARE) })).length;
}

/** Of IPv6 the first 48 bits, because who has one such network has 65,536 of those that the gateway counts. */
export function widerNetwork(network: string): string {
  return network.replace(/^([^:]+:[^:]+:[^:]+):[^:]+::\/64$/, '$1::/48');
}
