import type { Model } from '@wts/models';
import type { ClientBase, QueryResult } from 'pg';
import { literal } from './literal.ts';

/*
 * The statements of a commit. Those of one step travel in one message, because every message is a wait; and a connection
 * parses and plans each of them once, which was half of what a commit cost PostgreSQL.
 *
 * Rows travel in arrays, so that a statement is the same for any number of them.
 */

/**
 * For the connections that commit. A plan is made once, perhaps while a table is small: every statement of a commit reaches
 * its rows by an index, so no other plan may be kept for the day when the table is large.
 */
export const PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const;

export type Argument = string | readonly (string | null)[];

/** A statement with its arguments, or the text of one that takes none. */
export type Call = string | { readonly statement: Prepared; readonly values: readonly Argument[] };

export class Prepared {
  /** Of its arguments, in order, divided by commas. */
  readonly types: string;
  readonly text: string;

  constructor(types: string, text: string) {
    this.types = types;
    this.text = text;
  }

  with(...values: readonly Argument[]): Call {
    return { statement: this, values };
  }
}

/** A statement for each key, made when it is first asked for. */
export function statements<K extends readonly (string | Model)[]>(
  make: (...key: K) => Prepared,
): (...key: K) => Prepared {
  const made = new Map<string, Prepared>();
  return (...key) => {
    const name = key.map((part) => (typeof part === 'string' ? part : part.name)).join(' ');
    let one = made.get(name);
    if (!one) made.set(name, (one = make(...key)));
    return one;
  };
}

/** Under which name a connection knows a statement. */
const known = new WeakMap<ClientBase, Map<Prepared, string>>();
/** Never used twice: whether a message that failed has left a name behind need not be known. */
let names = 0;

/** Several statements in one message: their results in order. What the connection does not know yet is told to it before. */
export async function together(client: ClientBase, calls: readonly Call[]): Promise<QueryResult[]> {
  const namesOf = await introduce(client, calls);
  const texts = calls.map((call) => {
    if (typeof call === 'string') return call;
    const values = call.values.map((value) => literal(typeof value === 'string' ? value : arrayOf(value)));
    return `execute ${namesOf.get(call.statement)}${values.length > 0 ? `(${values.join(',')})` : ''}`;
  });
  const results = (await client.query(texts.join(';'))) as unknown as QueryResult | QueryResult[];
  return Array.isArray(results) ? results : [results];
}

async function introduce(client: ClientBase, calls: readonly Call[]): Promise<ReadonlyMap<Prepared, string>> {
  let namesOf = known.get(client);
  if (!namesOf) known.set(client, (namesOf = new Map<Prepared, string>()));
  const fresh = new Map<Prepared, string>();
  for (const call of calls) {
    if (typeof call === 'string' || namesOf.has(call.statement)) continue;
    fresh.set(call.statement, `commit_${(names += 1)}`);
  }
  if (fresh.size === 0) return namesOf;
  const definitions = [...fresh].map(
    ([{ types, text }, name]) => `prepare ${name}${types === '' ? '' : `(${types})`} as ${text}`,
  );
  await client.query(definitions.join(';'));
  for (const [statement, name] of fresh) namesOf.set(statement, name);
  return namesOf;
}

/** The text of a one-dimensional array. */
export function arrayOf(values: readonly (string | null)[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: string | null): string {
  return value === null ? 'null' : `"${SPECIAL.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}

const SPECIAL = /["\\]/;

/**
 * JSON texts as one argument: inside JSON, control characters are always escaped, so one of them can stand between. Much
 * less work for both sides than an array, in which every quote of every text is escaped.
 */
export function jsonList(texts: readonly (string | null)[]): string {
  return texts.map((text) => text ?? '').join(SEPARATOR);
}

const SEPARATOR = '\u001f';

/** What reads a `jsonList` back; nothing stands for null. */
export function fromJsonList(parameter: string): string {
  return `string_to_array(${parameter}, chr(31), '')::json[]`;
}

/** A `jsonList` as one JSON array. */
export function joinedJsonList(parameter: string): string {
  return `('[' || replace(${parameter}, chr(31), ',') || ']')::json`;
}
