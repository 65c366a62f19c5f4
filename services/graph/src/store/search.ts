import { Fault, LIMITS } from '@wts/contracts';
import { isNumerous, layoutOf, searchTitleOf, searchVectorSql, snakeCase, type Model } from '@wts/models';
import { visibleSelections } from '@wts/read-model';
import { notHiddenSql, recordSql, type Wants } from './record.ts';
import type { Statement, StatementWriter } from './statement.ts';

/*
 * Search: a record is found by whole words and beginnings of words in its search fields, and by parts of its title, also with a
 * slip. The index has the words of each workspace apart (`searchIndexSql` of packages/models), so the records of others are not even
 * read. Keeps graphql.search.visible.
 */

/** The words as the statements need them. */
export interface Words {
  readonly text: string;
  /** For `to_tsquery`: each word may continue. Null without a letter or digit. */
  readonly query: string | null;
}

/** Shorter texts have too few trigrams to resemble anything. */
const SIMILAR_CHARS_MIN = 4;
/** Of more matches the newest are ranked. */
const RANKED_MAX = 500;
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
  return { text, query: words.length === 0 ? null : words.map((word) => `${word}:*`).join(' & ') };
}

interface FoundIn {
  readonly alias: string;
  readonly sql: StatementWriter;
  /** Only in these workspaces; null: in all of the reader. Used where `narrowsWorkspaces` is true. */
  readonly workspaceIds: readonly string[] | null;
}

/** Whether `foundSql` narrows the workspaces, so that no other condition on them is needed. */
export const narrowsWorkspaces = isNumerous;

/**
 * The condition on the row `alias` that the words find it. Relies on the search index of the model, where it has one: with a single
 * condition on the workspace, because the index takes as long for each as for all the words.
 */
export function foundSql(model: Model, { text, query }: Words, { alias, sql, workspaceIds }: FoundIn): string {
  const title = searchTitleOf(model);
  const part = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const ways: string[] = [];
  if (title !== null) {
    ways.push(`${alias}.${title} ilike ${sql.add(part, 'text')}`);
    if (text.length >= SIMILAR_CHARS_MIN) ways.push(`${sql.add(text, 'text')} operator(public.<%) ${alias}.${title}`);
  }
  if (query !== null)
    ways.push(`${searchVectorSql(model, `${alias}.`)} @@ to_tsquery('simple', ${sql.add(query, 'text')})`);
  const found = ways.length === 0 ? 'false' : `(${ways.join(' or ')})`;
  if (!narrowsWorkspaces(model)) return found;
  // Narrows the index to the reader's workspaces; the predicate of visibility applies besides.
  const { person } = sql.viewer;
  const wanted = workspaceIds === null ? '' : ` and home.workspace_id = any(${sql.add(workspaceIds, 'uuid[]')})`;
  const own = `array(select home.workspace_id from sync.workspace_members home where home.user_id = ${person?.userId ?? 'null'}${wanted})`;
  return `${alias}.workspace_id = any(${own}) and ${found}`;
}

const newestFirst = (alias: string): string => `${alias}.created_at desc, ${alias}.id desc`;

/** Matches that are sorted instead of walking the records in their order. */
const SORTED_MAX = 1_000;

/**
 * SQL with `id` and `created_at` of the first matches in an order of creation; `where` has the words. Few matches are found by the
 * search index and sorted, many by walking the records in their order. PostgreSQL alone would walk tens of thousands of records for
 * a rare word, because it underestimates what comparing words costs.
 */
export function firstMatchesSql(table: string, where: string, order: (alias: string) => string, limit: number): string {
  const matches = `select t.id, t.created_at from ${table} t where ${where}`;
  return `(with few as materialized (${matches} limit ${SORTED_MAX + 1})
    select match.id, match.created_at from (
      select few.id, few.created_at from few where (select count(*) from few) <= ${SORTED_MAX}
      union all
      (${matches} and (select count(*) from few) > ${SORTED_MAX} order by ${order('t')} limit ${limit})
    ) match order by ${order('match')} limit ${limit})`;
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
  const [title = 'id'] = model.search.map(snakeCase);
  const where = [
    visibleSelections(model, sql.viewer)[0]?.where ?? 'false',
    ...(workspaceId === null || narrowsWorkspaces(model) ? [] : [inWorkspaceSql(model, sql.add(workspaceId, 'uuid'))]),
    ...(includeArchived ? [] : notHiddenSql(model, 't')),
    foundSql(model, words, { alias: 't', sql, workspaceIds: workspaceId === null ? null : [workspaceId] }),
  ];
  const score = `greatest(public.word_similarity(${sql.add(words.text, 'text')}, near.title), 0.01)::float8`;
  return `select '${model.name}' as model, t.id, t.created_at, best.score, ${recordSql(model, 't', wants)} as record from (
      select near.id, ${score} as score from (
        select t.id, t.created_at, left(t.${title}, ${TITLE_CHARS}) as title
        from ${firstMatchesSql(table, where.join(' and '), newestFirst, RANKED_MAX)} newest join ${table} t on t.id = newest.id
      ) near order by score desc, near.created_at desc, near.id limit ${limit}
    ) best join ${table} t on t.id = best.id`;
}

/** A person is in a workspace by their membership. */
function inWorkspaceSql({ audience }: Model, workspaceId: string): string {
  if (audience.kind === 'self') return `t.id = ${workspaceId}`;
  if (audience.kind !== 'person') return `t.workspace_id = ${workspaceId}`;
  return `t.id in (select member.user_id from sync.workspace_members member where member.workspace_id = ${workspaceId} and member.group_id = member.workspace_id)`;
}
