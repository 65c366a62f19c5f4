import { isNumerous, layoutOf, type Model } from '@wts/models';
import { visibleToGroupSql } from '@wts/read-model';
import type { StatementWriter } from './statement.ts';

interface NewestOptions {
  readonly sql: StatementWriter;
  readonly workspaceIds: readonly string[] | null;
  readonly order: (alias: string) => string;
  /** Conditions on the columns of the order. */
  readonly bounds: () => readonly string[];
  readonly limit: number;
}

/**
 * The first records that the reader sees in an order of creation, as rows `t` without their JSON text, by index
 * (group_id, created_at, id). Null where no such index serves. `offset 0` keeps PostgreSQL from applying other conditions first, which
 * may take long for each of all records.
 */
export function newestSql(model: Model, { sql, workspaceIds, order, bounds, limit }: NewestOptions): string | null {
  const inGroup = visibleToGroupSql(model, 'seen.id');
  if (inGroup === null || !isNumerous(model) || !sql.hasFewGroups) return null;
  const { table, columns } = layoutOf(model);
  const names = [...columns.map(({ name }) => name), 'workspace_id', 'group_id'].map((name) => `t.${name}`).join(', ');
  const where = [inGroup, ...bounds()].join(' and ');
  return `(select ${names} from (
      select near.id from (${sql.groupsIn(workspaceIds)}) seen, lateral (
        select t.id, t.created_at from ${table} t where ${where} order by ${order('t')} limit ${limit}
      ) near order by ${order('near')} limit ${limit}
    ) first, lateral (select ${names} from ${table} t where t.id = first.id offset 0) t) t`;
}
