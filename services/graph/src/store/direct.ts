import { isoTimeSql } from '@wts/log';
import { layoutOf, singularOf, snakeCase, type Inverse, type Model, type Relation } from '@wts/models';
import { visibleSelections } from '@wts/read-model';
import { fieldsByName } from '../domain/fields.ts';
import { refersSql, rowsSql, totalSql, type Connection, type RowColumn } from './connection.ts';
import { cursorSql } from './cursor.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * The statement of a direct answer: one statement that returns a root field as the JSON text of the answer, with all levels below it.
 * Each record is read by the same conditions as by the statements of `connection.ts` and `records.ts`.
 *
 * Rows are named after what they are of in the schema, so that a slow statement shows which field it is for. The alias of a row that
 * becomes JSON as a whole ends with `$`, which no GraphQL name has: PostgreSQL reads a bare name as a column first, and clients name
 * the columns. Of `{ tasks(first: 2) { nodes { title project { name } } } }`, without the conditions of visibility:
 *
 *   select (select '{' || '"nodes":' || to_json(page.nodes)::text || '}' from (
 *     select coalesce(json_agg(tasks$), '[]') as nodes from (
 *       select tasks_1.title as "title", project_2.found as "project"
 *       from (select t.id, t.created_at, t.title as title, t.project_id as project_id from sync.tasks t
 *         where ... order by t.created_at desc, t.id desc limit 3) tasks_1
 *       left join lateral (select (select to_json(project$) from (
 *         select projects_3.name as "name" from sync.projects projects_3 where id = tasks_1.project_id and ... limit 1
 *       ) project$) as found limit 1) project_2 on true limit 2
 *     ) tasks$) page) as found
 */

/** What an operation selects of a record. Names are those of the answer. */
export interface RecordTree {
  readonly model: Model;
  readonly fields: readonly RecordPart[];
}

export type RecordPart = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'value'; readonly field: string }
  | { readonly kind: 'record'; readonly relation: Relation; readonly below: RecordTree }
  | { readonly kind: 'connection'; readonly scope: Inverse | Relation; readonly below: ConnectionTree }
);

/** What an operation selects of a connection; `connection` gives it the arguments of the request. */
export interface ConnectionTree {
  readonly connection: (variables: object) => Connection;
  readonly parts: readonly ConnectionPart[];
}

export type ConnectionPart = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'nodes'; readonly below: RecordTree }
  | { readonly kind: 'edges'; readonly below: readonly EdgePart[] }
  | { readonly kind: 'pageInfo'; readonly below: readonly PageInfoPart[] }
  | { readonly kind: 'totalCount' }
);

export type EdgePart = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'cursor' }
  | { readonly kind: 'node'; readonly below: RecordTree }
);

export type PageInfoPart = { readonly as: string } & (
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor' }
);

/** A connection as text: `{"nodes": [...]}`. */
export function directConnectionStatement(tree: ConnectionTree, variables: object, sql: StatementWriter): Statement {
  sql.isText = true;
  return sql.finish(`select ${new Writer(sql, variables).connectionText(tree)} as found`);
}

/** A record as text; `null` when there is none. */
export function directRecordStatement(
  { tree, id }: { readonly tree: RecordTree; readonly id: string },
  variables: object,
  sql: StatementWriter,
): Statement {
  const found = new Writer(sql, variables).byId(tree, sql.add(id, 'uuid'));
  sql.isText = true;
  return sql.finish(`select coalesce(${found}::text, 'null') as found`);
}

class Writer {
  readonly #sql: StatementWriter;
  readonly #variables: object;
  #aliases = 0;

  constructor(sql: StatementWriter, variables: object) {
    this.#sql = sql;
    this.#variables = variables;
  }

  /** One record as JSON, or null. `id` is SQL. A person who left is found as they were when they left. */
  byId({ model, fields }: RecordTree, id: string): string {
    const ways = visibleSelections(model, this.#sql.viewer).map(({ from, where }) => {
      const alias = this.#alias(model.plural);
      const source = from ?? `${layoutOf(model).table} ${alias}`;
      const of = from === undefined ? this.#ofRow(model, fields, alias) : this.#ofFrozen(fields);
      const row = `${snakeCase(singularOf(model))}$`;
      return `(select to_json(${row}) from (select ${of.columns} from ${source}${of.joins} where id = ${id} and ${where} limit 1) ${row})`;
    });
    return ways.length === 1 ? (ways[0] ?? 'null') : `coalesce(${ways.join(', ')})`;
  }

  /** A connection of the root as text. Joining texts takes PostgreSQL less than making one more object. */
  connectionText(tree: ConnectionTree): string {
    const { values, from } = this.#connection(tree, null);
    const members = values.map(({ part, sql }) => `'"${part.as}":' || to_json(${sql})::text`);
    return `(select '{' || ${members.join(` || ',' || `)} || '}'${from})`;
  }

  /** A connection inside a record. */
  connection(tree: ConnectionTree, scope: ConnectionScope): string {
    const { values, from } = this.#connection(tree, scope);
    const columns = values.map(({ part, sql }) => named(part, sql));
    return `(select to_json(connection$) from (select ${columns.join(', ')}${from}) connection$)`;
  }

  #connection(
    { connection: at, parts }: ConnectionTree,
    scope: ConnectionScope | null,
  ): { readonly values: readonly { readonly part: ConnectionPart; readonly sql: string }[]; readonly from: string } {
    const connection = at(this.#variables);
    const condition = scope === null ? null : scopeSql(scope);
    const shown = parts.filter(({ kind }) => kind === 'nodes' || kind === 'edges' || kind === 'pageInfo');
    const valueOf = (part: ConnectionPart): string => {
      switch (part.kind) {
        case 'constant':
          return text(part.value);
        case 'totalCount':
          return totalSql(connection, this.#sql, condition);
        case 'nodes':
        case 'edges':
          return `page.${part.kind}`;
        case 'pageInfo':
          return `(select to_json(page_info$) from (select ${this.#pageInfo(connection, part.below)}) page_info$)`;
      }
    };
    const values = parts.map((part) => ({ part, sql: valueOf(part) }));
    const from = shown.length === 0 ? '' : ` from (${this.#page(connection, shown, condition)}) page`;
    return { values, from };
  }

  /** `nodes` and `edges` of one page, and what `pageInfo` needs. */
  #page(connection: Connection, shown: readonly ConnectionPart[], condition: string | null): string {
    const { model, keys, limit } = connection;
    const row = this.#alias(model.plural);
    const whole = `${snakeCase(model.plural)}$`;
    const carried = new Map<string, string>();
    const joins: string[] = [];
    const carry = (field: string): void => void carried.set(snakeCase(field), `t.${snakeCase(field)}`);
    const of = (tree: RecordTree): string => {
      for (const field of fieldsRead(tree)) carry(field);
      const { columns, joins: own } = this.#ofRow(model, tree.fields, row);
      joins.push(own);
      return columns;
    };
    const hasInfo = shown.some(({ kind }) => kind === 'pageInfo');
    const hasCursors =
      hasInfo || shown.some((part) => part.kind === 'edges' && part.below.some(({ kind }) => kind === 'cursor'));
    if (hasCursors) for (const { field } of keys) carry(field);
    const cursor = cursorSql(model, keys, ({ field, sqlType }) => valueSql(`${row}.${snakeCase(field)}`, sqlType));
    const lists = shown.flatMap((part): RowColumn[] => {
      if (part.kind === 'nodes') return [['nodes', of(part.below)]];
      if (part.kind !== 'edges') return [];
      const columns = part.below.map((edge) => {
        if (edge.kind === 'constant') return named(edge, text(edge.value));
        if (edge.kind === 'cursor') return named(edge, cursor);
        return named(edge, `(select to_json(node$) from (select ${of(edge.below)}) node$)`);
      });
      return [['edges', columns.join(', ')]];
    });
    const rows = (): string => {
      const columns = [...carried].filter(([name]) => name !== 'id' && name !== 'created_at');
      return `(${rowsSql(connection, this.#sql, { columns, scope: condition })}) ${row}${joins.join('')}`;
    };
    const [only, ...others] = lists;
    if (!hasInfo && only !== undefined && others.length === 0)
      return `select coalesce(json_agg(${whole}), '[]') as ${only[0]} from (select ${only[1]} from ${rows()} limit ${limit}) ${whole}`;
    const inPage = `listed.nth <= ${limit}`;
    const columns = lists.map(
      ([name, list]) => `, (select to_json(${name}$) from (select ${list}) ${name}$) as ${name}`,
    );
    const aggregated = lists.map(
      ([name]) => `coalesce(json_agg(listed.${name}) filter (where ${inPage}), '[]') as ${name}`,
    );
    // A cursor costs more than the rest of a row, so only the keys of the first and the last row become one.
    const names = keys.map(({ field }) => snakeCase(field));
    const keyColumns = hasInfo ? names.map((name) => `, ${row}.${name} as key_${name}`).join('') : '';
    if (hasInfo) {
      const last = `least(count(*), ${limit})`;
      aggregated.push(`count(*) as found`);
      for (const name of names)
        aggregated.push(
          `(array_agg(listed.key_${name}))[1] as first_${name}`,
          `(array_agg(listed.key_${name}))[${last}] as last_${name}`,
        );
    }
    return `select ${aggregated.join(', ')} from (
      select row_number() over () as nth${keyColumns}${columns.join('')} from ${rows()}) listed`;
  }

  #pageInfo({ model, keys, limit, after }: Connection, parts: readonly PageInfoPart[]): string {
    const cursor = (end: string): string => {
      const of = cursorSql(model, keys, (key) => valueSql(`page.${end}_${snakeCase(key.field)}`, key.sqlType));
      return `case when page.found > 0 then ${of} end`;
    };
    return parts
      .map((part) => {
        switch (part.kind) {
          case 'constant':
            return named(part, text(part.value));
          case 'hasNextPage':
            return named(part, `page.found > ${limit}`);
          case 'hasPreviousPage':
            return named(part, String(after !== null));
          case 'startCursor':
            return named(part, cursor('first'));
          case 'endCursor':
            return named(part, cursor('last'));
        }
      })
      .join(', ');
  }

  /** The columns of the row `alias`, and the joins that they need. */
  #ofRow(
    model: Model,
    fields: readonly RecordPart[],
    alias: string,
  ): { readonly columns: string; readonly joins: string } {
    const served = fieldsByName(model);
    const joins: string[] = [];
    const columns = fields.map((part) => {
      switch (part.kind) {
        case 'constant':
          return named(part, text(part.value));
        case 'value':
          return named(part, valueSql(`${alias}.${snakeCase(part.field)}`, served.get(part.field)?.sqlType));
        case 'record': {
          // The limit keeps the order of the rows, and lets PostgreSQL read a record to which several rows refer once.
          const other = this.#alias(part.relation.name);
          const one = this.byId(part.below, `${alias}.${snakeCase(part.relation.field)}`);
          joins.push(` left join lateral (select ${one} as found limit 1) ${other} on true`);
          return named(part, `${other}.found`);
        }
        case 'connection':
          return named(part, this.connection(part.below, { of: part.scope, parent: alias }));
      }
    });
    return { columns: columns.join(', '), joins: joins.join('') };
  }

  /** Of a person who left: only values, which are in the record that was kept. */
  #ofFrozen(fields: readonly RecordPart[]): { readonly columns: string; readonly joins: string } {
    const columns = fields.map((part) =>
      named(
        part,
        part.kind === 'value' ? `frozen.record -> '${part.field}'` : text(part.kind === 'constant' ? part.value : ''),
      ),
    );
    return { columns: columns.join(', '), joins: '' };
  }

  #alias(name: string): string {
    this.#aliases += 1;
    return `${snakeCase(name)}_${this.#aliases}`;
  }
}

/** The fields of the row that a tree needs. */
function fieldsRead({ fields }: RecordTree): string[] {
  return fields.flatMap((part) => {
    if (part.kind === 'value') return [part.field];
    if (part.kind === 'record') return [part.relation.field];
    return part.kind === 'connection' && 'target' in part.scope ? [part.scope.field] : [];
  });
}

interface ConnectionScope {
  readonly of: Inverse | Relation;
  /** The alias of the row. */
  readonly parent: string;
}

function scopeSql({ of, parent }: ConnectionScope): string {
  return 'target' in of ? `t.id = any(${parent}.${snakeCase(of.field)})` : refersSql(of, parent);
}

/** A value as it is in the record. */
function valueSql(column: string, sqlType: string | undefined): string {
  return sqlType === 'timestamptz' ? isoTimeSql(column) : column;
}

/** A GraphQL name has only letters, digits and underscores. */
function named({ as }: { readonly as: string }, sql: string): string {
  return `${sql} as "${as}"`;
}

/** The name of a type as a literal. */
function text(value: string): string {
  return `'${value}'::text`;
}
