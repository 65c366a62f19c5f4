import type { Pool } from 'pg';

/** A pool, or one of its connections. */
export type Queryable = Pick<Pool, 'query'>;

/** The row that every statement about the log's state returns. */
export function stateRow<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  return row;
}
