import type { Knex } from 'knex';

/**
 * The words that a search finds in a text, one home for the keys of the index and the comparison with a query.
 *
 * The parser of PostgreSQL takes `a-b`, `a_b`, `a/b`, `a.b` and `a@b` for parts of one word, of a name of a host or of a file, of a number or
 * of an address, and `<!--` for a comment, and reads on to their end at each part: of 50,000 such characters in a row for more than a minute.
 * Between blanks it takes milliseconds, and finds each part. In a text of usual length `replace` takes half the time of `translate`.
 *
 * Texts that are there keep their keys until they change, so of a path in them only its beginning is found.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create function sync.search_words(given text) returns tsvector
    language sql immutable parallel safe
    return to_tsvector('simple'::regconfig, replace(replace(replace(replace(replace(given, '_', ' '), '-', ' '), '/', ' '), '.', ' '), '@', ' '))`);
  await knex.raw(searchKeys('sync.search_words(words)'));
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(searchKeys(`to_tsvector('simple'::regconfig, words)`));
  await knex.raw(`drop function sync.search_words(text)`);
}

/** As in `0023-index-search-by-group.ts`, but a long text is parsed once. */
function searchKeys(lexemes: string): string {
  return `create or replace function sync.search_keys(group_id uuid, title text, words text) returns tsvector
  language plpgsql immutable parallel safe cost 10000
  as $$
    declare
      own text := chr(1) || left(encode(sha256(uuid_send(group_id)), 'base64'), 11);
      lexemes text;
    begin
      if octet_length(words) > 2000 then
        lexemes := (select string_agg(left(lexeme, 500), own || '~') from unnest(tsvector_to_array(${lexemes})) lexeme);
      else
        lexemes := array_to_string(tsvector_to_array(${lexemes}), own || '~');
      end if;
      return array_to_tsvector(string_to_array(
        substr(own, 2) || coalesce(array_to_string(public.show_trgm(title), own) || own, '') || coalesce('~' || lexemes, ''), chr(1)));
    end
  $$`;
}
