import { layoutOf, MODELS, Workspace, type Model } from '@wts/models';
import { membershipsSql, visibleSelections, visibleSql } from '@wts/read-model';
import { recordSql, type Wants } from './record.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * Records by their ids and unique keys. A record that the reader may not see is missing, as one that does not exist.
 */

/** The records of a model with these ids, in any order: `[record]`. */
export function recordsStatement(model: Model, ids: readonly string[], sql: StatementWriter, wants: Wants): Statement {
  return sql.finish(
    `select coalesce(json_agg(one.record), '[]') as found from (${selectedSql(model, sql.add(ids, 'uuid[]'), sql, wants)}) one`,
  );
}

/** The records of any model with these ids: `[{model, record}]`. */
export function nodesStatement(ids: readonly string[], sql: StatementWriter, wants: Wants): Statement {
  const list = sql.add(ids, 'uuid[]');
  const each = MODELS.map(
    (model) => `(select '${model.name}' as model, one.record from (${selectedSql(model, list, sql, wants)}) one)`,
  );
  return sql.finish(
    `select coalesce(json_agg(json_build_object('model', one.model, 'record', one.record)), '[]') as found from (${each.join(' union all ')}) one`,
  );
}

/**
 * SQL with `record` of the records with these ids; `list` is SQL of an array. A person who left is found as they were when they left;
 * their other columns are not those of the record.
 */
function selectedSql(model: Model, list: string, sql: StatementWriter, wants: Wants): string {
  return visibleSelections(model, sql.viewer)
    .map(({ from, where }) => {
      const record = from === undefined ? recordSql(model, 't', wants) : 'frozen.record';
      const source = from ?? `${layoutOf(model).table} t`;
      return `select ${record} as record from ${source} where id = any(${list}) and ${where}`;
    })
    .join(' union all ');
}

/** The reader's workspaces by name, without deleted ones unless one is named. Not searched in the index of all short names, whose time would reveal those of others. */
export function ownWorkspacesStatement(urlKey: string | null, sql: StatementWriter): Statement {
  const named = urlKey === null ? ' and t.archived_at is null' : ` and t.url_key || '' = ${sql.add(urlKey, 'text')}`;
  return sql.finish(`select coalesce(json_agg(one.record), '[]') as found from (
      select t.record from ${layoutOf(Workspace).table} t where ${visibleSql(Workspace, sql.viewer)}${named} order by lower(t.name), t.id
    ) one`);
}

/** The role of the reader in each of these workspaces: `[{workspaceId, role}]`. */
export function rolesStatement(workspaceIds: readonly string[], sql: StatementWriter): Statement {
  return sql.finish(`select coalesce(json_agg(json_build_object('workspaceId', own.workspace_id, 'role', own.role)), '[]') as found
    from (${membershipsSql(sql.viewer.person.userId)}) own where own.workspace_id = any(${sql.add(workspaceIds, 'uuid[]')})`);
}
