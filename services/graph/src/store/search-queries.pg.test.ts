import fc from 'fast-check';
import assert from 'node:assert/strict';
import { Records } from '../../test/records.ts';
import { searchQueriesSql } from './search-queries.ts';
import { wordsOf } from './search.ts';
import { StatementWriter } from './statement.ts';

describe('the queries of the search index', () => {
  let records: Records;
  before(async () => (records = await Records.open('search-queries')));
  after(() => records[Symbol.asyncDispose]());

  const person = { groups: new Set<string>(), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
  const id = '4b2f8a52-6f3e-4c1d-9b7a-0d7c9a3e5f10';
  const groupsOf = (count: number): string => `select gen_random_uuid() as id from generate_series(1, ${count})`;
  const fixed = `select md5(nth::text)::uuid as id from generate_series(1, 20) nth`;

  type Queries = { readonly groups: number; readonly query: string | null }[];

  /** The database writes the parts of AND and OR in any order. */
  const sorted = (query: string): string => {
    const parts = query.split(' | ').map((part) => part.split(' & ').toSorted().join(' and '));
    return parts.toSorted().join(' or ');
  };
  const inOrder = (query: string): string =>
    sorted(query.replaceAll(/\( ([^()]*) \)/g, (_, inner: string) => `(${sorted(inner)})`));

  /** Both ways of the same search. */
  const both = async (text: string, isInTitle: boolean, groups: string): Promise<[Queries, Queries]> => {
    const words = wordsOf(text) ?? assert.fail();
    const sql = new StatementWriter({ userId: id, workspaceId: null, person, isLive: false });
    const ours = searchQueriesSql(words, { groups, sql, isInTitle });
    const all = (from: string): string =>
      `select json_agg(json_build_object('groups', cardinality(of_groups), 'query', query::text) order by of_groups[1]) as found from ${from} seen`;
    const { text: statement, values } = sql.finish(all(ours));
    const theirs = `sync.search_queries(array(${groups}), $1, $2, $3)`;
    const results = await Promise.all([
      records.pool.query<{ found: Queries }>(statement, [...values]),
      records.pool.query<{ found: Queries }>(all(theirs), [words.text, words.words, isInTitle]),
    ]);
    return results.map(({ rows }) =>
      rows[0]?.found.map(({ groups: count, query }) => ({ groups: count, query: query && inOrder(query) })),
    ) as [Queries, Queries];
  };

  it('of plain words are those that the database makes', async () => {
    const word = fc.stringMatching(/^(?:[a-zA-Z]{3,12}|[0-9]{3,6})$/);
    const texts = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(texts, fc.boolean(), async (text, isInTitle) => {
        const [ours, theirs] = await both(text, isInTitle, fixed);
        assert.deepEqual(ours, theirs);
      }),
      { numRuns: 60 },
    );
  });

  it('are none for more than 500 groups, whose records are compared', async () => {
    const [ours, theirs] = await both('rollback', true, groupsOf(501));
    assert.deepEqual(ours, [{ groups: 501, query: null }]);
    assert.deepEqual(ours, theirs);
  });
});
