import type { Knex } from 'knex';
import { rows } from '@wts/service-kit/postgres';

// Contracts sync.tasks_search_idx, sync.comments_search_idx: the upgrade from 0.1.0 stops the system.

/** `create index concurrently` waits for the writers of the table, so it cannot be in a transaction. */
export const config = { transaction: false };

const INDEXES = [
  ['tasks', 'title, description'],
  ['comments', 'null, body'],
] as const;

/**
 * The search index by group: each key begins with the group of its record, so a search reads entries of the reader's groups only.
 *
 * A key is 66 bits of the SHA-256 of the id of the group, because clients choose ids, and then a trigram of the title, or `~` and a
 * word of the other texts. Words of titles are found by their trigrams, which costs a change less than more keys. The new index is
 * made while the service runs, before the one of the version before goes; a migration that failed goes on with the next index.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(SEARCH_KEYS);
  await knex.raw(KNOWN_TRIGRAMS);
  await knex.raw(SEARCH_QUERIES);
  for (const [table, texts] of INDEXES) {
    const name = `${table}_search_keys_idx`;
    // What failed before its end is there, and invalid.
    const unfinished = `select from pg_index where indexrelid = to_regclass(:index) and not indisvalid`;
    if ((await rows(knex, unfinished, { index: `sync.${name}` })).length > 0)
      await knex.raw(`drop index concurrently sync.${name}`);
    await knex.raw(
      `create index concurrently if not exists ${name} on sync.${table} using gin (sync.search_keys(group_id, ${texts}))`,
    );
    // No plan depends on how frequent a key is, and ANALYZE would make the keys of a sample of records.
    await knex.raw(`alter index sync.${name} alter column 1 set statistics 0`);
    await knex.raw(`drop index concurrently if exists sync.${table}_search_idx`);
  }
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`create index if not exists tasks_search_idx on sync.tasks using gin
    (workspace_id, to_tsvector('simple'::regconfig, title || ' ' || coalesce(description, '')), title public.gin_trgm_ops)`);
  await knex.raw(`create index if not exists comments_search_idx on sync.comments using gin
    (workspace_id, to_tsvector('simple'::regconfig, body))`);
  for (const [table] of INDEXES) await knex.raw(`drop index if exists sync.${table}_search_keys_idx`);
  await knex.raw(`drop function if exists sync.search_queries(uuid[], text, text[], boolean)`);
  await knex.raw(`drop function if exists sync.known_trigrams(text, boolean)`);
  await knex.raw(`drop function if exists sync.search_keys(uuid, text, text)`);
}

/**
 * A key has at most 2,046 bytes. Each change of a text calls it: nearly all of its time is in the functions of PostgreSQL, and a variable
 * with a list, or `substr` of a long text, would add a quarter.
 */
const SEARCH_KEYS = `create or replace function sync.search_keys(group_id uuid, title text, words text) returns tsvector
  language plpgsql immutable parallel safe cost 10000
  as $$
    declare
      own text := chr(1) || left(encode(sha256(uuid_send(group_id)), 'base64'), 11);
      lexemes text := array_to_string(tsvector_to_array(to_tsvector('simple'::regconfig, words)), own || '~');
    begin
      if octet_length(words) > 2000 then
        lexemes := (select string_agg(left(lexeme, 500), own || '~')
          from unnest(tsvector_to_array(to_tsvector('simple'::regconfig, words))) lexeme);
      end if;
      return array_to_tsvector(string_to_array(
        substr(own, 2) || coalesce(array_to_string(public.show_trgm(title), own) || own, '') || coalesce('~' || lexemes, ''), chr(1)));
    end
  $$`;

/** The trigrams of every text that has this part, or that has a word which begins with it. */
const KNOWN_TRIGRAMS = `create or replace function sync.known_trigrams(part text, begins boolean) returns text[]
  language plpgsql immutable parallel safe
  as $$
    declare
      other text := left(translate('xyz', lower(left(part, 1) || right(part, 1)), ''), 1);
      longer text := case when begins then '' else other end || part || other;
    begin
      return array(select unnest(public.show_trgm(part)) intersect select unnest(public.show_trgm(longer)));
    end
  $$`;

/**
 * For groups of a reader a query of the keys of their records that a search may find: more than it finds, so each is compared as well.
 * Null where all their records have to be compared: for one or two letters, which may be anywhere in a title, and for more groups than
 * the index should be read for. Eight groups have one query, because each scan of the index also reads its pending entries, and
 * because with more groups each entry that is found is compared with too much.
 *
 * One or two letters among other words are not found directly behind a number with a sign, such as "ab" in "-5abc".
 *
 * A title may have each word or its beginning, or the whole text as a part, or words that resemble the long ones: then at least 0.6
 * of the trigrams of each (pg_trgm.word_similarity_threshold), so one of a number of blocks of trigrams is there as a whole.
 */
const SEARCH_QUERIES = `create or replace function sync.search_queries(groups uuid[], search text, words text[], in_title boolean,
    out of_groups uuid[], out query tsquery) returns setof record
  language plpgsql stable parallel safe rows 1
  as $$
    declare
      word text;
      lexemes tsquery;
      trigrams text[];
      is_short boolean := cardinality(words) = 0;
      each_word text;
      resembling text;
      whole text;
      template text;
    begin
      foreach word in array words loop
        lexemes := to_tsquery('simple', word || ':*');
        trigrams := case when in_title and numnode(lexemes) = 1 then sync.known_trigrams(word, length(word) < 3) end;
        if cardinality(trigrams) > 0 or not in_title and numnode(lexemes) > 0 then
          each_word := concat_ws(' & ', each_word, '(' || concat_ws(' | ',
            '''@' || array_to_string(trigrams, ''' & ''@') || '''',
            replace(regexp_replace(nullif(lexemes::text, ''), '''([^'']*)''', '''@~\\1''', 'g'), '<->', '&')) || ')');
        end if;
        is_short := is_short or length(word) < 3;
        if in_title and length(word) > 3 then
          trigrams := public.show_trgm(word);
          resembling := concat_ws(' & ', resembling, (select '(' || string_agg(block, ' | ') || ')' from (
            select '(''@' || string_agg(trigram, ''' & ''@') || ''')' as block from unnest(trigrams) with ordinality one(trigram, nth)
            group by nth % (1 + floor(cardinality(trigrams) * 0.4))) blocks));
        end if;
      end loop;
      if in_title and is_short then
        whole := '''@' || array_to_string(nullif(sync.known_trigrams(search, false), '{}'), ''' & ''@') || '''';
      end if;
      if cardinality(groups) <= 500 and not (in_title and is_short and whole is null or each_word is null and cardinality(words) > 0) then
        template := concat_ws(' | ', each_word, whole, nullif(resembling, ''));
      end if;
      return query select array_agg(one.id),
          string_agg(replace(template, '@', left(encode(sha256(uuid_send(one.id)), 'base64'), 11)), ' | ')::tsquery
        from unnest(groups) with ordinality one(id, nth) group by case when template is not null then (nth - 1) / 8 end;
    end
  $$`;
