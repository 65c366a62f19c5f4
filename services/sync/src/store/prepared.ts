import type { Model } from '@wts/models';
import { activeTrace, endSpan, startSpan } from '@wts/service-kit/observe';
import type { ClientBase, QueryResult } from 'pg';
import { literal } from './literal.ts';
import { COMMIT } from './transaction.ts';

/*
 * The statements of a commit. Those of one step are sent in one message, because every message is a wait; and a connection
 * parses and plans each of them once, because parsing and planning would double what a commit costs PostgreSQL.
 *
 * Rows are sent in arrays, so that a statement is the same for any number of them.
 */

/**
 * For the connections that commit. A plan is made once, perhaps while a table is small: every statement of a commit finds
 * its rows by an index, so no other plan may be kept until the table is large.
 */
export const PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const;

export type Argument = string | readonly (string | null)[];

/** A prepared statement with its arguments, or the text of a statement that takes none. */
export type Statement = string | { readonly prepared: PreparedStatement; readonly values: readonly Argument[] };

export class PreparedStatement {
  /** Of its arguments, in order, divided by commas. */
  readonly types: string;
  readonly text: string;

  constructor(types: string, text: string) {
    this.types = types;
    this.text = text;
  }

  with(...values: readonly Argument[]): Statement {
    return { prepared: this, values };
  }
}

/** A prepared statement for each key, made at its first use. */
export function preparedByKey<K extends readonly (string | Model)[]>(
  make: (...key: K) => PreparedStatement,
): (...key: K) => PreparedStatement {
  const made = new Map<string, PreparedStatement>();
  return (...key) => {
    const name = key.map((part) => (typeof part === 'string' ? part : part.name)).join(' ');
    return made.getOrInsertComputed(name, () => make(...key));
  };
}

const namesByConnection = new WeakMap<ClientBase, Map<PreparedStatement, string>>();
/** A name is never used twice, because a message that failed may or may not have prepared its statements. */
let names = 0;

/** Runs several statements in one message and returns their results in order; prepares those that are new to the connection. */
export async function runStatements(client: ClientBase, statements: readonly Statement[]): Promise<QueryResult[]> {
  const namesOf = await prepareMissing(client, statements);
  const texts = statements.map((statement) => {
    if (typeof statement === 'string') return statement;
    const values = statement.values.map((value) => literal(typeof value === 'string' ? value : arrayOf(value)));
    return `execute ${namesOf.get(statement.prepared)}${values.length > 0 ? `(${values.join(',')})` : ''}`;
  });
  const results = (await tracedRoundTrip(statements, () => client.query(texts.join(';')))) as unknown as
    | QueryResult
    | QueryResult[];
  return Array.isArray(results) ? results : [results];
}

/** A span for one message to PostgreSQL and its reply, when the batch is recorded. */
async function tracedRoundTrip<T>(statements: readonly Statement[], send: () => Promise<T>): Promise<T> {
  if (activeTrace() === null) return send();
  const isWrite = statements.at(-1) === COMMIT;
  const span = startSpan(isWrite ? 'write and commit' : 'read and lock', 'CLIENT', {
    'db.system.name': 'postgresql',
    'db.namespace': 'sync',
    'db.operation.name': 'BATCH',
    'db.operation.batch.size': statements.length,
  });
  try {
    const reply = await send();
    endSpan(span);
    return reply;
  } catch (failure) {
    endSpan(span, failure);
    throw failure;
  }
}

async function prepareMissing(
  client: ClientBase,
  statements: readonly Statement[],
): Promise<ReadonlyMap<PreparedStatement, string>> {
  const namesOf = namesByConnection.getOrInsertComputed(client, () => new Map());
  const missing = new Map<PreparedStatement, string>();
  for (const statement of statements) {
    if (typeof statement === 'string' || namesOf.has(statement.prepared)) continue;
    missing.set(statement.prepared, `commit_${(names += 1)}`);
  }
  if (missing.size === 0) return namesOf;
  const definitions = [...missing].map(
    ([{ types, text }, name]) => `prepare ${name}${types === '' ? '' : `(${types})`} as ${text}`,
  );
  await client.query(definitions.join(';'));
  for (const [prepared, name] of missing) namesOf.set(prepared, name);
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
 * JSON texts as one argument: inside JSON, control characters are always escaped, so one of them separates the texts.
 * That is much less work for both sides than an array, in which every quote of every text is escaped.
 */
export function jsonList(texts: readonly (string | null)[]): string {
  return texts.map((text) => text ?? '').join(SEPARATOR);
}

const SEPARATOR = '\u001f';

/** SQL that reads a `jsonList`; an empty text means null. */
export function fromJsonList(parameter: string): string {
  return `string_to_array(${parameter}, chr(31), '')::json[]`;
}

/** A `jsonList` as one JSON array. */
export function joinedJsonList(parameter: string): string {
  return `('[' || replace(${parameter}, chr(31), ',') || ']')::json`;
}
