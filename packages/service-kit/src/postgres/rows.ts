import type { Knex } from 'knex';
import { faultOfSqlState } from './sqlstate.ts';

type Bindings = Readonly<Record<string, string | number | boolean | Date | Buffer | readonly string[] | null>>;

/** Runs a statement with named bindings. Rejects with a Fault for an error of PostgreSQL or of the connection. */
export async function rows<T>(knex: Knex, sql: string, bindings: Bindings = {}): Promise<T[]> {
  try {
    const result = await knex.raw<{ rows: T[] }>(sql, bindings as Record<string, Knex.Value>);
    return result.rows;
  } catch (cause) {
    throw faultOfSqlState(cause) ?? cause;
  }
}

/** The first row of a statement; null without one. */
export async function firstRow<T>(knex: Knex, sql: string, bindings: Bindings = {}): Promise<T | null> {
  return (await rows<T>(knex, sql, bindings))[0] ?? null;
}
