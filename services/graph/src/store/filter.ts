import { isStorableText, isUuid, LIMITS, type Fault } from '@wts/contracts';
import { inversesOf, layoutOf, relationsOf, snakeCase, type Model } from '@wts/models';
import { invalid } from '../domain/errors.ts';
import { fieldsByName, type ServedField } from '../domain/fields.ts';
import type { StatementWriter } from './statement.ts';

/** A filter as the schema admits it. */
export type Filter = Readonly<Record<string, unknown>>;

/** The filters all of which hold where this one does: itself, and those that it joins by `and`. */
export function conjunctsOf(filter: Filter): readonly Filter[] {
  const { and } = filter as { readonly and?: readonly Filter[] | null };
  return [filter, ...(and ?? [])];
}

/** Whether each record of a filter has a value of this field, as PostgreSQL can see in its conditions. */
export function hasValue(filter: Filter, field: string): boolean {
  return conjunctsOf(filter).some((one) => {
    const given = (one[field] ?? {}) as Readonly<Record<string, unknown>>;
    return given['null'] === false || RANGES.some((operator) => (given[operator] ?? null) !== null);
  });
}

const RANGES = ['eq', 'lt', 'lte', 'gt', 'gte'] as const;

type Comparison = (column: string, value: string) => string;

/** Records without a value are different from every value, and are none of any list. */
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  eq: (column, value) => `${column} = ${value}`,
  neq: (column, value) => `${column} is distinct from ${value}`,
  in: (column, value) => `${column} = any(${value})`,
  nin: (column, value) => `(${column} is null or ${column} <> all(${value}))`,
  lt: (column, value) => `${column} < ${value}`,
  lte: (column, value) => `${column} <= ${value}`,
  gt: (column, value) => `${column} > ${value}`,
  gte: (column, value) => `${column} >= ${value}`,
  contains: (column, value) => `${column} like ${value}`,
  startsWith: (column, value) => `${column} like ${value}`,
  eqIgnoreCase: (column, value) => `lower(${column}) = lower(${value})`,
  has: (column, value) => `(${column} @> array[${value}] and ${column} <> '{}')`,
  hasAny: (column, value) => `(${column} && ${value} and ${column} <> '{}')`,
  hasAll: (column, value) => `${column} @> ${value}`,
};

/** An index may find few records by them, or most of all. */
const BY_VALUES: ReadonlySet<string> = new Set(['lt', 'lte', 'gt', 'gte', 'has', 'hasAny', 'hasAll']);

const LISTS: ReadonlySet<string> = new Set(['in', 'nin', 'hasAny', 'hasAll']);

/**
 * Writes a filter as a condition on the row `alias`. A condition on other records holds only for those that the reader may see, so
 * that a filter reveals nothing about the rest: keeps graphql.filter.no-oracle. Its size is bounded: keeps graphql.filter.bounds.
 */
export function filterSql(
  model: Model,
  filter: Filter,
  { alias, sql }: { alias: string; sql: StatementWriter },
): string {
  return new FilterWriter(sql).conditions(model, filter, { alias, depth: 1 });
}

interface At {
  readonly alias: string;
  readonly depth: number;
}

class FilterWriter {
  readonly #sql: StatementWriter;
  #leaves = 0;
  #aliases = 0;

  constructor(sql: StatementWriter) {
    this.#sql = sql;
  }

  conditions(model: Model, filter: Filter, at: At): string {
    if (at.depth > LIMITS.graphFilterDepthMax)
      throw invalid(`A filter is at most ${LIMITS.graphFilterDepthMax} filters deep. Split the query.`);
    const fields = fieldsByName(model);
    const all = Object.entries(filter).flatMap(([name, given]) => {
      if (given === null || given === undefined) return [];
      if (name === 'and' || name === 'or') return [this.#join(model, name, { given: given as Filter[], at })];
      const field = fields.get(name);
      if (field !== undefined) return this.#comparisons(name, field, { given: given as Filter, at });
      return [this.#related(model, name, { given: given as Filter, at })];
    });
    return all.length === 0 ? 'true' : all.join(' and ');
  }

  #join(model: Model, name: 'and' | 'or', { given, at }: { given: readonly Filter[]; at: At }): string {
    if (given.length > LIMITS.graphFilterLeavesMax) throw tooMany();
    const parts = given.map((one) => `(${this.conditions(model, one, { ...at, depth: at.depth + 1 })})`);
    if (parts.length === 0) return name === 'and' ? 'true' : 'false';
    return `(${parts.join(` ${name} `)})`;
  }

  #comparisons(name: string, field: ServedField, { given, at }: { given: Filter; at: At }): string[] {
    const column = `${at.alias}.${snakeCase(name)}`;
    return Object.entries(given).flatMap(([operator, value]) => {
      if (value === undefined) return [];
      this.#count();
      if (operator === 'null' || operator === 'isEmpty') {
        if (typeof value !== 'boolean') return [];
        if (operator === 'isEmpty') return [`${column} ${value ? '=' : '<>'} '{}'`];
        return [`${column} is ${value ? '' : 'not '}null`];
      }
      if (value === null) {
        if (operator === 'eq') return [`${column} is null`];
        return operator === 'neq' ? [`${column} is not null`] : [];
      }
      if (BY_VALUES.has(operator)) this.#sql.isPlannedByValues = true;
      const parameter = this.#parameter(name, field, { operator, value });
      return [COMPARISONS[operator]?.(column, parameter) ?? 'false'];
    });
  }

  #parameter(
    name: string,
    { sqlType }: ServedField,
    { operator, value }: { readonly operator: string; readonly value: unknown },
  ): string {
    const type = sqlType === 'uuid[]' ? 'uuid' : sqlType;
    if (LISTS.has(operator)) {
      const list = value as readonly unknown[];
      if (list.length > LIMITS.graphFilterListMax)
        throw invalid(`${name}.${operator} has at most ${LIMITS.graphFilterListMax} values`);
      for (const one of list) check(name, type, one);
      return this.#sql.add(list, `${type}[]`);
    }
    check(name, type, value);
    if (operator !== 'contains' && operator !== 'startsWith') return this.#sql.add(value, type);
    const escaped = String(value).replaceAll(/[\\%_]/g, String.raw`\$&`);
    return this.#sql.add(operator === 'contains' ? `%${escaped}%` : `${escaped}%`, 'text');
  }

  /** A condition on the records of a relation. A record that the reader may not see is none. */
  #related(model: Model, name: string, { given, at }: { given: Filter; at: At }): string {
    const relation = relationsOf(model).find((one) => one.name === name);
    const inverse = inversesOf(model).find((one) => one.name === name);
    this.#aliases += 1;
    const other = `f${this.#aliases}`;
    if (relation !== undefined) {
      const own = `${at.alias}.${snakeCase(relation.field)}`;
      const join = relation.many ? `${other}.id = any(${own})` : `${other}.id = ${own}`;
      const target = { model: relation.target, other, join, depth: at.depth + 1 };
      return relation.many ? this.#collection(given, target) : this.#exists(given, target);
    }
    if (inverse === undefined) return 'false';
    const key = `${other}.${snakeCase(inverse.field)}`;
    const join = inverse.many ? `(${key} @> array[${at.alias}.id] and ${key} <> '{}')` : `${key} = ${at.alias}.id`;
    return this.#collection(given, { model: inverse.source, other, join, depth: at.depth + 1 });
  }

  #collection(given: Filter, target: Target): string {
    const parts = (['some', 'every', 'none'] as const).flatMap((quantifier) => {
      const filter = given[quantifier];
      if (filter === null || filter === undefined) return [];
      if (quantifier === 'some') return [this.#exists(filter as Filter, target)];
      if (quantifier === 'none') return [`not ${this.#exists(filter as Filter, target)}`];
      return [`not ${this.#exists(filter as Filter, target, (condition) => `(${condition}) is not true`)}`];
    });
    return parts.length === 0 ? 'true' : `(${parts.join(' and ')})`;
  }

  #exists(filter: Filter, { model, other, join, depth }: Target, change = (condition: string) => condition): string {
    this.#count();
    const condition = change(this.conditions(model, filter, { alias: other, depth }));
    return `exists (select from ${layoutOf(model).table} ${other} where ${join} and ${this.#sql.sees(model)} and ${condition})`;
  }

  #count(): void {
    this.#leaves += 1;
    if (this.#leaves > LIMITS.graphFilterLeavesMax) throw tooMany();
  }
}

interface Target {
  readonly model: Model;
  readonly other: string;
  readonly join: string;
  readonly depth: number;
}

function check(name: string, type: string, value: unknown): void {
  if (type === 'uuid' && !isUuid(value)) throw invalid(`${name} is compared with ids, which are UUIDs`);
  if (type !== 'text') return;
  const text = String(value);
  if (!isStorableText(text)) throw invalid(`${name} is compared with valid Unicode text without NUL`);
  if (text.length > LIMITS.graphFilterTextMax)
    throw invalid(`${name} is compared with at most ${LIMITS.graphFilterTextMax} characters`);
}

function tooMany(): Fault {
  return invalid(`A filter has at most ${LIMITS.graphFilterLeavesMax} conditions. Use \`in\`, or split the query.`);
}
