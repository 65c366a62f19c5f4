import { isStorableText, LIMITS } from '@wts/contracts';
import { isNumerous, layoutOf, searchKeysSql, searchTextSql, searchTitleOf, snakeCase, type Model } from '@wts/models';
import { invalid } from '../domain/errors.ts';
import { newestSql } from './newest.ts';
import { notHiddenSql, recordSql, type Wants } from './record.ts';
import { searchQueriesSql, SIMILAR_CHARS_MIN, type Words } from './search-queries.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * Search: a record is found by whole words and beginnings of words in its search fields, and by parts of its title, also with a
 * slip. Tasks and comments have an index whose keys begin with the group (`sync.search_keys` of the database), and it is read for the
 * groups of the reader, so which rows and pages a search reads depends on records that the reader sees, and not on those of others.
 * Keeps graphql.search.visible and graphql.search.time.
 */

/** PostgreSQL makes one word of these, and may make several of letters with digits. */
const UNDIVIDED = /^(?:\p{L}+|\d+)$/u;
const TITLE_CHARS = 500;
const WORDS_MAX = 16;

/** Null for an empty text, which finds everything in a connection and nothing in a search. */
export function wordsOf(given: string): Words | null {
  if (given.length > LIMITS.graphSearchTextMax)
    throw invalid(`A search has at most ${LIMITS.graphSearchTextMax} characters`);
  if (!isStorableText(given)) throw invalid('A search is valid Unicode text without NUL');
  const text = given.trim();
  if (text === '') return null;
  const words = text.match(/[\p{L}\p{N}]+/gu)?.slice(0, WORDS_MAX) ?? [];
  return {
    text,
    words,
    query: words.length === 0 ? null : words.map((word) => `${word}:*`).join(' & '),
    long: words.filter((word) => [...word].length >= SIMILAR_CHARS_MIN),
  };
}

/** A search of a model by the reader of a statement. */
export interface Search {
  readonly model: Model;
  readonly words: Words;
  readonly sql: StatementWriter;
  /** Only in these workspaces; null: in all of the reader. */
  readonly workspaceIds: readonly string[] | null;
}

/** The condition on the row `alias` of the table that the words find it. */
export function foundSql(search: Search, alias: string): string {
  if (!isNumerous(search.model)) return comparedSql(search, alias);
  return `${alias}.id in (select match.id from ${candidatesSql(search, 'match')} where ${comparedSql(search, 'match')})`;
}

/** The rows `t` that the words may find, all or by the search index: `comparedSql` decides. */
export function searchedSql(search: Search): string {
  return isNumerous(search.model) ? candidatesSql(search, 't') : `${layoutOf(search.model).table} t`;
}

/**
 * Those in the reader's groups by the search index. `offset 0` keeps
 * PostgreSQL from using another index with conditions from outside.
 */
function candidatesSql({ model, words, sql, workspaceIds }: Search, alias: string): string {
  const { table } = layoutOf(model);
  const groups = `select home.id from (${sql.groupsIn(workspaceIds)}) home`;
  return `${searchQueriesSql(words, { groups, sql, isInTitle: searchTitleOf(model) !== null })} seen, lateral (
      select t.* from ${table} t where ${searchKeysSql(model, 't.')} @@ seen.query
      union all select t.* from ${table} t where seen.query is null and t.group_id = any(seen.of_groups) offset 0) ${alias}`;
}

/**
 * Whether the words find the row `alias`. Each long word may have a slip of its own. Looking for words as parts of the texts is much
 * quicker than dividing them into words, which most of the compared records do not need then.
 */
export function comparedSql({ model, words: { text, words, query, long }, sql }: Search, alias: string): string {
  const title = searchTitleOf(model);
  const partOf = (part: string): string => `%${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const searched = searchTextSql(model, `${alias}.`);
  const ways: string[] = [];
  if (title !== null) ways.push(`${alias}.${title} ilike ${sql.add(partOf(text), 'text')}`);
  if (query !== null)
    ways.push(
      `${searched} ilike all(${sql.add(words.filter((word) => UNDIVIDED.test(word)).map(partOf), 'text[]')}) and sync.search_words(${searched}) @@ to_tsquery('simple', ${sql.add(query, 'text')})`,
    );
  if (title !== null && long.length > 0)
    ways.push(long.map((word) => `${sql.add(word, 'text')} operator(public.<%) ${alias}.${title}`).join(' and '));
  return ways.length === 0 ? 'false' : `(${ways.map((way) => `(${way})`).join(' or ')})`;
}

const newestFirst = (alias: string): string => `${alias}.created_at desc, ${alias}.id desc`;

/** Matches that the search index finds and that are then sorted or ranked. */
const SORTED_MAX = 1_000;
/** Newest records among which many matches are searched. */
const NEWEST_MAX = 1_000;

/** What a list of matches by creation consists of. */
export interface Matches extends Search {
  /** The condition that rows `t` match, besides the words. */
  readonly where: string;
  readonly order: (alias: string) => string;
  /** Conditions on the columns of the order, which `where` has too. */
  readonly bounds: () => readonly string[];
}

/**
 * SQL with `id` and `created_at` of the first matches in an order of creation. Few matches are found by the search index and sorted.
 * Many are searched among the first records in the order, and sorted only when too few of these match.
 */
export function firstMatchesSql(given: Matches, limit: number): string {
  const { order } = given;
  const newest = newestSql(given.model, { ...given, limit: NEWEST_MAX });
  const isMany = `(select count(*) from few) > ${SORTED_MAX}`;
  const isMatch = matchSql(given);
  const ofNewest =
    newest === null
      ? `select few.id, few.created_at from few where false`
      : `select t.id, t.created_at from ${newest} where ${isMany} and ${isMatch} order by ${order('t')} limit ${limit}`;
  const all = `select t.id, t.created_at from ${searchedSql(given)} where ${isMatch}`;
  return `(with few as materialized (${all} limit ${SORTED_MAX + 1}), newest as materialized (${ofNewest})
    select match.id, match.created_at from (
      select few.id, few.created_at from few where not ${isMany}
      union all
      select newest.id, newest.created_at from newest where (select count(*) from newest) = ${limit}
      union all
      (${all} and ${isMany} and (select count(*) from newest) < ${limit} order by ${order('t')} limit ${limit})
    ) match order by ${order('match')} limit ${limit})`;
}

/** SQL with `id`, `created_at` and `title` of the matches that are ranked: all when they are few, else those among the newest records, and some others. */
function rankedSql(given: Matches): string {
  const { model } = given;
  const [field = 'id'] = model.search.map(snakeCase);
  const columns = `t.id, t.created_at, left(t.${field}, ${TITLE_CHARS}) as title`;
  const newest = newestSql(model, { ...given, limit: NEWEST_MAX });
  if (newest === null) {
    const first = firstMatchesSql(given, SORTED_MAX);
    return `(select ${columns} from ${first} first join ${layoutOf(model).table} t on t.id = first.id)`;
  }
  const isMany = `(select count(*) from few) > ${SORTED_MAX}`;
  const isMatch = matchSql(given);
  return `(with few as materialized (select ${columns} from ${searchedSql(given)} where ${isMatch} limit ${SORTED_MAX + 1})
    select few.id, few.created_at, few.title from few
    union select ${columns} from ${newest} where ${isMany} and ${isMatch})`;
}

function matchSql(given: Matches): string {
  return `${given.where} and ${comparedSql(given, 't')}`;
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
  const where = [
    sql.sees(model),
    ...(workspaceId === null ? [] : [inWorkspaceSql(model, sql.add(workspaceId, 'uuid'))]),
    ...(includeArchived ? [] : notHiddenSql(model, 't', 'few')),
  ];
  const workspaceIds = workspaceId === null ? null : [workspaceId];
  const search = { model, words, sql, workspaceIds };
  const matches = { ...search, where: where.join(' and '), order: newestFirst, bounds: () => [] };
  const score = `greatest(public.word_similarity(${sql.add(words.text, 'text')}, near.title), 0.01)::float8`;
  return `select '${model.name}' as model, t.id, t.created_at, best.score, ${recordSql(model, 't', wants)} as record from (
      select near.id, ${score} as score from ${rankedSql(matches)} near order by score desc, near.created_at desc, near.id limit ${limit}
    ) best join ${table} t on t.id = best.id`;
}

/** A person is in a workspace by their membership. */
function inWorkspaceSql({ audience }: Model, workspaceId: string): string {
  if (audience.kind === 'self') return `t.id = ${workspaceId}`;
  if (audience.kind !== 'person') return `t.workspace_id = ${workspaceId}`;
  return `t.id in (select member.user_id from sync.workspace_members member where member.workspace_id = ${workspaceId} and member.group_id = member.workspace_id)`;
}
