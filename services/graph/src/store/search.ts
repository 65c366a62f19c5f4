import { Fault, LIMITS } from '@wts/contracts';
import { isNumerous, layoutOf, searchTitleOf, searchVectorSql, snakeCase, type Model } from '@wts/models';
import { visibleSelections } from '@wts/read-model';
import { newestSql } from './newest.ts';
import { notHiddenSql, recordSql, type Wants } from './record.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * Search: a record is found by whole words and beginnings of words in its search fields, and by parts of its title, also with a
 * slip. The index has the workspace beside the words (`searchIndexSql` of packages/models), so the records of others are not read where
 * PostgreSQL uses it; decision 0024 says where it does not. Keeps graphql.search.visible.
 */

/** The words as the statements need them. */
export interface Words {
  readonly text: string;
  /** For `to_tsquery`: each word may continue. Null without a letter or digit. */
  readonly query: string | null;
  /** The words that may have a slip. */
  readonly long: readonly string[];
}

/** Shorter words have too few trigrams to resemble anything. */
const SIMILAR_CHARS_MIN = 4;
const TITLE_CHARS = 500;
const WORDS_MAX = 16;

/** Null for an empty text, which finds everything in a connection and nothing in a search. */
export function wordsOf(given: string): Words | null {
  if (given.length > LIMITS.graphSearchTextMax)
    throw new Fault('validation_failed', { message: `A search has at most ${LIMITS.graphSearchTextMax} characters` });
  if (given.includes('\0') || !given.isWellFormed())
    throw new Fault('validation_failed', { message: 'A search is valid Unicode text without NUL' });
  const text = given.trim();
  if (text === '') return null;
  const words = text.match(/[\p{L}\p{N}]+/gu)?.slice(0, WORDS_MAX) ?? [];
  return {
    text,
    query: words.length === 0 ? null : words.map((word) => `${word}:*`).join(' & '),
    long: words.filter(({ length }) => length >= SIMILAR_CHARS_MIN),
  };
}

interface FoundIn {
  readonly alias: string;
  readonly sql: StatementWriter;
  /** Only in these workspaces; null: in all of the reader. Used where `narrowsWorkspaces` is true. */
  readonly workspaceIds: readonly string[] | null;
}

/** Whether `homesSql` narrows the workspaces, so that no other condition on them is needed. */
export const narrowsWorkspaces = isNumerous;

/** The condition on the row `alias` that the words find it. */
export function foundSql(model: Model, words: Words, given: FoundIn): string {
  return [...homesSql(model, given), anyOf(waysSql(model, words, given))].join(' and ');
}

/**
 * Narrows the search index to the workspaces of the reader; the predicate of visibility applies besides. With a single condition on
 * the workspace, because the index takes as long for each as for all the words.
 */
export function homesSql(model: Model, { alias, sql, workspaceIds }: FoundIn): string[] {
  if (!narrowsWorkspaces(model)) return [];
  const { person } = sql.viewer;
  const wanted = workspaceIds === null ? '' : ` and home.workspace_id = any(${sql.add(workspaceIds, 'uuid[]')})`;
  const own = `array(select home.workspace_id from sync.workspace_members home where home.user_id = ${person?.userId ?? 'null'}${wanted})`;
  return [`${alias}.workspace_id = any(${own})`];
}

/**
 * The ways in which the words may find the row `alias`, each a condition that the search index of the model answers, where it has one:
 * with the workspace, which PostgreSQL may leave out of a condition without `or`. Each long word may have a slip of its own, because
 * the index would find the trigrams of all words together in records that do not have the words.
 */
export function waysSql(model: Model, { text, query, long }: Words, { alias, sql }: FoundIn): string[] {
  const title = searchTitleOf(model);
  const words =
    query === null ? null : `${searchVectorSql(model, `${alias}.`)} @@ to_tsquery('simple', ${sql.add(query, 'text')})`;
  if (title === null) return words === null ? [] : [words];
  const part = `${alias}.${title} ilike ${sql.add(`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`, 'text')}`;
  const similar = long.map((word) => `${sql.add(word, 'text')} operator(public.<%) ${alias}.${title}`).join(' and ');
  return [words === null ? part : `(${part} or ${words})`, ...(similar === '' ? [] : [`(${part} or ${similar})`])];
}

function anyOf(ways: readonly string[]): string {
  return ways.length === 0 ? 'false' : `(${ways.map((way) => `(${way})`).join(' or ')})`;
}

const newestFirst = (alias: string): string => `${alias}.created_at desc, ${alias}.id desc`;

/** Matches that the search index finds and that are then sorted or ranked; comparing words takes 20 microseconds for each. */
const SORTED_MAX = 1_000;
/** Newest records among which many matches are searched; comparing words takes 70 microseconds for each that does not match. */
const NEWEST_MAX = 1_000;

/** What a list of matches by creation consists of. */
export interface Matches {
  readonly sql: StatementWriter;
  /** The condition that rows `t` match, besides the words. */
  readonly where: string;
  /** How the words may find them. */
  readonly ways: readonly string[];
  readonly order: (alias: string) => string;
  /** Conditions on the columns of the order, which `where` has too. */
  readonly bounds: () => readonly string[];
  readonly workspaceIds: readonly string[] | null;
}

/**
 * SQL with `id` and `created_at` of the first matches in an order of creation. Few matches are found by the search index and sorted.
 * Many are searched among the first records in the order, and sorted only when too few of these match: PostgreSQL alone would sort
 * all matches of a common word, or walk tens of thousands of records for a rare one, because it underestimates what comparing words
 * costs.
 */
export function firstMatchesSql(model: Model, given: Matches, limit: number): string {
  const { order } = given;
  const where = `${given.where} and ${anyOf(given.ways)}`;
  const matches = `select t.id, t.created_at from ${layoutOf(model).table} t where ${where}`;
  const newest = newestSql(model, { ...given, limit: NEWEST_MAX });
  const isMany = `(select count(*) from few) > ${SORTED_MAX}`;
  const ofNewest =
    newest === null
      ? `select few.id, few.created_at from few where false`
      : `select t.id, t.created_at from ${newest} where ${isMany} and ${where} order by ${order('t')} limit ${limit}`;
  return `(with few as materialized (${fewSql(model, given)}), newest as materialized (${ofNewest})
    select match.id, match.created_at from (
      select few.id, few.created_at from few where not ${isMany}
      union all
      select newest.id, newest.created_at from newest where (select count(*) from newest) = ${limit}
      union all
      (${matches} and ${isMany} and (select count(*) from newest) < ${limit} order by ${order('t')} limit ${limit})
    ) match order by ${order('match')} limit ${limit})`;
}

/** SQL with `id`, `created_at` and `title` of the matches that are ranked: all when they are few, else those among the newest records, and some others. */
function rankedSql(model: Model, given: Matches): string {
  const [field = 'id'] = model.search.map(snakeCase);
  const columns = `t.id, t.created_at, left(t.${field}, ${TITLE_CHARS}) as title`;
  const newest = newestSql(model, { ...given, limit: NEWEST_MAX });
  if (newest === null) {
    const first = firstMatchesSql(model, given, SORTED_MAX);
    return `(select ${columns} from ${first} first join ${layoutOf(model).table} t on t.id = first.id)`;
  }
  const isMany = `(select count(*) from few) > ${SORTED_MAX}`;
  return `(with few as materialized (${fewSql(model, given, columns)})
    select few.id, few.created_at, few.title from few
    union select ${columns} from ${newest} where ${isMany} and ${given.where} and ${anyOf(given.ways)})`;
}

/** Matches up to a number, each way by the index: so a record that one way names is not compared in the other ways. */
function fewSql(model: Model, { where, ways }: Matches, columns = 't.id, t.created_at'): string {
  const { table } = layoutOf(model);
  const each = (ways.length === 0 ? ['false'] : ways).map(
    (way) => `(select ${columns} from ${table} t where ${where} and ${way} limit ${SORTED_MAX + 1})`,
  );
  return each.join(' union ');
}

export interface SearchRequest {
  readonly models: readonly Model[];
  readonly words: Words;
  readonly limit: number;
  readonly workspaceId: string | null;
  readonly includeArchived: boolean;
  readonly wants: Wants;
}

/** The best matches of all models, in one statement: `[{model, score, record}]`. */
export function searchStatement(request: SearchRequest, sql: StatementWriter): Statement {
  const { models, limit } = request;
  const each = models.map((model) => `(${matchesOf(model, request, sql)})`).join(' union all ');
  return sql.finish(
    `select coalesce(json_agg(json_build_object('model', hit.model, 'score', hit.score, 'record', hit.record)), '[]') as found
      from (select * from (${each}) every_hit order by score desc, created_at desc, id limit ${limit}) hit`,
  );
}

function matchesOf(model: Model, request: SearchRequest, sql: StatementWriter): string {
  const { words, limit, workspaceId, includeArchived, wants } = request;
  const { table } = layoutOf(model);
  const workspaceIds = workspaceId === null ? null : [workspaceId];
  const found = { alias: 't', sql, workspaceIds };
  const where = [
    visibleSelections(model, sql.viewer)[0]?.where ?? 'false',
    ...(workspaceId === null || narrowsWorkspaces(model) ? [] : [inWorkspaceSql(model, sql.add(workspaceId, 'uuid'))]),
    ...(includeArchived ? [] : notHiddenSql(model, 't', 'few')),
    ...homesSql(model, found),
  ];
  const ways = waysSql(model, words, found);
  const matches = { sql, where: where.join(' and '), ways, order: newestFirst, bounds: () => [], workspaceIds };
  const score = `greatest(public.word_similarity(${sql.add(words.text, 'text')}, near.title), 0.01)::float8`;
  return `select '${model.name}' as model, t.id, t.created_at, best.score, ${recordSql(model, 't', wants)} as record from (
      select near.id, ${score} as score from ${rankedSql(model, matches)} near order by score desc, near.created_at desc, near.id limit ${limit}
    ) best join ${table} t on t.id = best.id`;
}

/** A person is in a workspace by their membership. */
function inWorkspaceSql({ audience }: Model, workspaceId: string): string {
  if (audience.kind === 'self') return `t.id = ${workspaceId}`;
  if (audience.kind !== 'person') return `t.workspace_id = ${workspaceId}`;
  return `t.id in (select member.user_id from sync.workspace_members member where member.workspace_id = ${workspaceId} and member.group_id = member.workspace_id)`;
}
