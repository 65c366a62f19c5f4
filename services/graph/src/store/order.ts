import { LIMITS } from '@wts/contracts';
import { snakeCase, type Field, type Model } from '@wts/models';
import { invalid } from '../domain/errors.ts';
import { fieldsByName } from '../domain/fields.ts';

export type Direction = 'ASC' | 'DESC';

/** One key of an order; the last one is the id. */
export interface OrderKey {
  readonly field: string;
  readonly direction: Direction;
  readonly sqlType: Field['sqlType'];
  readonly nullable: boolean;
}

/** The values of a record's keys: where it is in an order. */
export type CursorValues = readonly unknown[];

/**
 * The keys of an order. The id makes it total, so that each record comes exactly once (keeps graphql.pages.each-once), and follows
 * the direction of the last key, so that one index serves both.
 */
export function orderOf(
  model: Model,
  orderBy: readonly Readonly<Record<string, unknown>>[] | null,
): readonly OrderKey[] {
  const given = (orderBy ?? []).flatMap((one) => Object.entries(one) as [string, Direction][]);
  if (given.length > LIMITS.graphOrderKeysMax) throw invalid(`orderBy has at most ${LIMITS.graphOrderKeysMax} keys`);
  if (new Set(given.map(([field]) => field)).size !== given.length) throw invalid('orderBy names a key twice');
  const fields = fieldsByName(model);
  const keys = (given.length === 0 ? DEFAULT : given).flatMap(([field, direction]): OrderKey[] => {
    const served = fields.get(field);
    return served === undefined ? [] : [{ field, direction, sqlType: served.sqlType, nullable: served.nullable }];
  });
  const direction = keys.at(-1)?.direction ?? 'DESC';
  return [...keys, { field: 'id', direction, sqlType: 'uuid', nullable: false }];
}

const DEFAULT: readonly [string, Direction][] = [['createdAt', 'DESC']];

/** Whether this is the order of the indexes that end with `created_at` and `id`. */
export function isByCreation(keys: readonly OrderKey[]): boolean {
  return keys.length === 2 && keys[0]?.field === 'createdAt';
}

/** Whether an index has this order group by group: that of creation, or of a field where all records have a value. */
export function isIndexed(model: Model, keys: readonly OrderKey[]): boolean {
  const [first, ...others] = keys;
  if (first === undefined || others.length !== 1) return false;
  return first.field === 'createdAt' || (model.orders.includes(first.field) && !first.nullable);
}

/** The column of a key. Texts are compared by their bytes, because cursors are compared with them in the same way. */
function columnOf(alias: string, { field, sqlType }: OrderKey): string {
  return `${alias}.${snakeCase(field)}${sqlType === 'text' ? ' collate "C"' : ''}`;
}

/** Without a word about nulls where there are none, because that alone would keep an index from being used. */
export function orderSql(alias: string, keys: readonly OrderKey[], isBackward: boolean): string {
  return keys
    .map((key) => {
      const isDescending = (key.direction === 'DESC') !== isBackward;
      const nulls = key.nullable ? (isBackward ? ' nulls first' : ' nulls last') : '';
      return `${columnOf(alias, key)}${isDescending ? ' desc' : ''}${nulls}`;
    })
    .join(', ');
}

interface Side {
  readonly alias: string;
  readonly keys: readonly OrderKey[];
  /** True: the records before the cursor, instead of those after it. */
  readonly isBefore: boolean;
}

/** The records after a cursor, or before it. `add` makes a parameter. */
export function beyondSql(side: Side, cursor: CursorValues, add: (value: unknown, type: string) => string): string {
  const { alias, keys, isBefore } = side;
  const directions = new Set(keys.map(({ direction }) => direction));
  const values = keys.map(({ sqlType }, index) => (cursor[index] === null ? null : add(cursor[index], sqlType)));
  if (directions.size === 1 && keys.every(({ nullable }) => !nullable)) {
    // One comparison of rows, which an index of these columns answers.
    const columns = keys.map((key) => columnOf(alias, key)).join(', ');
    const isLess = directions.has('DESC') !== isBefore;
    return `(${columns}) ${isLess ? '<' : '>'} (${values.join(', ')})`;
  }
  const equal = keys.map((key, index) => {
    const value = values[index] ?? null;
    return value === null ? `${columnOf(alias, key)} is null` : `${columnOf(alias, key)} = ${value}`;
  });
  const cases = keys.map((key, index) =>
    [...equal.slice(0, index), strictlyBeyond(alias, key, { value: values[index] ?? null, isBefore })].join(' and '),
  );
  return `(${cases.map((one) => `(${one})`).join(' or ')})`;
}

/** Nulls are last in both directions of a key, so they come after every value. */
function strictlyBeyond(
  alias: string,
  key: OrderKey,
  { value, isBefore }: { readonly value: string | null; readonly isBefore: boolean },
): string {
  const column = columnOf(alias, key);
  if (value === null) return isBefore ? `${column} is not null` : 'false';
  const isLess = (key.direction === 'DESC') !== isBefore;
  const beyond = `${column} ${isLess ? '<' : '>'} ${value}`;
  return key.nullable && !isBefore ? `(${beyond} or ${column} is null)` : beyond;
}
