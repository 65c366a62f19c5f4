import { isStorableText, isUuid, type Fault } from '@wts/contracts';
import { date, timestamp, type Model } from '@wts/models';
import { invalid } from '../domain/errors.ts';
import type { CursorValues, OrderKey } from './order.ts';

/*
 * A cursor has the values of a record that decide where it is in an order: those of the keys, and its id. It names no page and grants
 * nothing, so it needs no signature; a cursor of another order, and a forged one, is refused: keeps graphql.cursor.forged.
 */

const VERSION = 1;
const CHARS_MAX = 8_000;
const DAY = date({ doc: 'A day.' });
const MOMENT = timestamp({ doc: 'A time.' });
const MOMENT_TEXT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;

export function cursorOf(model: Model, keys: readonly OrderKey[], record: Readonly<Record<string, unknown>>): string {
  const values = keys.map(({ field }) => record[field] ?? null);
  return Buffer.from(JSON.stringify([VERSION, signOf(model, keys), ...values])).toString('base64url');
}

/** The same by PostgreSQL. `valueSql` is the value of a key as it is in the record. */
export function cursorSql(model: Model, keys: readonly OrderKey[], valueSql: (key: OrderKey) => string): string {
  const values = keys.map((key) => ` || ',' || coalesce(to_json(${valueSql(key)})::text, 'null')`).join('');
  const json = `'[${VERSION},"${signOf(model, keys)}"'${values} || ']'`;
  return `translate(encode(convert_to(${json}, 'UTF8'), 'base64'), E'+/=\\n', '-_')`;
}

/** The values of a cursor that a client sent. */
export function cursorValuesOf(model: Model, keys: readonly OrderKey[], cursor: string): CursorValues {
  const read = cursor.length <= CHARS_MAX ? parse(cursor) : null;
  if (!Array.isArray(read) || read.length !== keys.length + 2) throw refused();
  const [version, sign, ...values] = read as unknown[];
  if (version !== VERSION || sign !== signOf(model, keys)) throw refused();
  if (!keys.every((key, index) => isValue(key, values[index]))) throw refused();
  return values;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function refused(): Fault {
  return invalid('This cursor is not one of this connection in this order. Start again without a cursor.');
}

function isValue({ sqlType, nullable, field }: OrderKey, value: unknown): boolean {
  if (value === null) return nullable;
  switch (sqlType) {
    case 'uuid':
      return field === 'id' && isUuid(value);
    case 'integer':
      return Number.isInteger(value) && Math.abs(value as number) <= 2_147_483_647;
    case 'boolean':
      return typeof value === 'boolean';
    case 'date': {
      const reading = DAY.read(value);
      return reading.ok && reading.value === value;
    }
    case 'timestamptz':
      return typeof value === 'string' && MOMENT_TEXT.test(value) && MOMENT.read(value).ok;
    default:
      return typeof value === 'string' && isStorableText(value);
  }
}

/** A short hash of the order (FNV-1a), which detects a cursor of another one. Names have ASCII characters only. */
function signOf({ name }: Model, keys: readonly OrderKey[]): string {
  const text = `${name} ${keys.map(({ field, direction }) => `${field} ${direction}`).join()}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(36);
}
