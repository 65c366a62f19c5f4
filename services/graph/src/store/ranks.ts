import { layoutOf, snakeCase, type Model, type RecordOf } from '@wts/models';
import { visibleSql } from '@wts/read-model';
import { LIMITS } from '@wts/contracts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * Ranks of the ordered list that a record is in, as far as the reader sees it. The records with `without` are left out, because they
 * are about to be placed. Relies on the indexes of the parents and on (group_id, id).
 */

/** The field with the rank of a record. */
export const RANK_FIELD = 'sortOrder';

/** Ranks are compared byte by byte, as clients compare them. */
const RANK = `${snakeCase(RANK_FIELD)} collate "C"`;

/** A record of an ordered list. */
export interface Ranked {
  readonly model: Model;
  readonly record: RecordOf<Model>;
  readonly rank: string;
  readonly without: readonly string[];
}

/** The ids of other records with the same rank: those behind the record in the order of ids first. */
export function tiesStatement({ model, record, rank, without }: Ranked, sql: StatementWriter): Statement {
  const id = sql.add(record.id, 'uuid');
  return sql.finish(`select coalesce(json_agg(tie.id), '[]') as found from (
      select id from ${listSql(model, record, sql)} and ${RANK} = ${sql.add(rank, 'text')} and id <> ${id}
        and id <> all(${sql.add(without, 'uuid[]')})
      order by (id < ${id}), id limit ${LIMITS.mutateTransactionsMax + 1}
    ) tie`);
}

/** The next greater rank, or the next smaller one; null when there is none. */
export function neighborStatement(
  side: 'next' | 'previous',
  { model, record, rank, without }: Ranked,
  sql: StatementWriter,
): Statement {
  const [pick, order] = side === 'next' ? ['min', '>'] : ['max', '<'];
  return sql.finish(`select ${pick}(${RANK}) as found from ${listSql(model, record, sql)}
    and ${RANK} ${order} ${sql.add(rank, 'text')} and id <> all(${sql.add(without, 'uuid[]')})`);
}

/** The list is that of the parent, or of the workspace where the record has none. */
function listSql(model: Model, record: RecordOf<Model>, sql: StatementWriter): string {
  const { field, id } = listOf(model, record);
  const own = field === null ? '' : ` and ${snakeCase(field)} ${id === null ? 'is null' : `= ${sql.add(id, 'uuid')}`}`;
  const home = sql.add(record['workspaceId'], 'uuid');
  return `${layoutOf(model).table} t where ${visibleSql(model, sql.viewer)} and workspace_id = ${home}${own}`;
}

/** The field with the parent by which records are in one list, and the parent. */
export function listOf(
  { audience }: Model,
  record: RecordOf<Model>,
): { readonly field: string | null; readonly id: string | null } {
  const isChild = audience.kind === 'parent' || (audience.kind === 'project' && audience.field !== 'id');
  if (!isChild) return { field: null, id: null };
  const id = record[audience.field];
  return { field: audience.field, id: typeof id === 'string' ? id : null };
}
