import type { StatementWriter } from './statement.ts';

/** The words as the statements need them. */
export interface Words {
  readonly text: string;
  readonly words: readonly string[];
  /** For `to_tsquery`: each word may continue. Null without a letter or digit. */
  readonly query: string | null;
  /** The words that may have a slip. */
  readonly long: readonly string[];
}

/** Words of which the keys are known here. Of others PostgreSQL knows the letters and how they are divided. */
const PLAIN = /^(?:[a-z]{3,}|[0-9]{3,})$/i;
/** Shorter words have too few trigrams to resemble anything. */
export const SIMILAR_CHARS_MIN = 4;
/** Of the trigrams of a word, how many a title need not have: 1 - pg_trgm.word_similarity_threshold. */
const MISSING = 0.4;

interface Within {
  /** A query of the ids of groups. */
  readonly groups: string;
  readonly sql: StatementWriter;
  /** Whether the model has a title, of which parts are found, also with a slip. */
  readonly isInTitle: boolean;
}

/**
 * What the search index is asked, as rows with `of_groups` and `query`: by `sync.search_queries` of the database. For plain words the same is
 * written here, which takes PostgreSQL a sixth of a search less. A test compares both.
 */
export function searchQueriesSql({ text, words }: Words, { groups, sql, isInTitle }: Within): string {
  if (words.length === 0 || !words.every((word) => PLAIN.test(word)))
    return `sync.search_queries(array(${groups}), ${sql.add(text, 'text')}, ${sql.add(words, 'text[]')}, ${isInTitle})`;
  const template = sql.add(templateOf(words, isInTitle), 'text');
  return `(select array_agg(one.id) as of_groups,
      string_agg(replace(case when one.nth >= 0 then ${template} end, '@', left(encode(sha256(uuid_send(one.id)), 'base64'), 11)), ' | ')::tsquery as query
    from (select home.id, case when count(*) over () <= 500 then row_number() over () - 1 end as nth from (${groups}) home) one group by one.nth / 8)`;
}

/** The query of one group, with `@` for the beginning of its keys. */
function templateOf(words: readonly string[], isInTitle: boolean): string {
  const each = words.map((given) => {
    const word = given.toLowerCase();
    const begins = `'@~${word}':*`;
    return isInTitle ? `(${allOf(trigramsOf(word))} | ${begins})` : `(${begins})`;
  });
  const resembling = words.flatMap((word) =>
    isInTitle && word.length >= SIMILAR_CHARS_MIN ? [`(${blocksOf(word.toLowerCase())})`] : [],
  );
  return [each, resembling].flatMap((all) => (all.length === 0 ? [] : [all.join(' & ')])).join(' | ');
}

/** One of so many blocks of trigrams is whole in every title with enough of them. */
function blocksOf(word: string): string {
  const trigrams = trigramsOf(`  ${word} `);
  const blocks = Array.from({ length: 1 + Math.floor(trigrams.length * MISSING) }, (): string[] => []);
  for (const [index, trigram] of trigrams.entries()) blocks[(index + 1) % blocks.length]?.push(trigram);
  return blocks.map(allOf).join(' | ');
}

function allOf(trigrams: readonly string[]): string {
  return `(${trigrams.map((trigram) => `'@${trigram}'`).join(' & ')})`;
}

/** In the order of `show_trgm`. */
function trigramsOf(text: string): string[] {
  const all = Array.from({ length: text.length - 2 }, (_, at) => text.slice(at, at + 3));
  return [...new Set(all)].toSorted((a, b) => (a < b ? -1 : 1));
}
