import assert from 'node:assert/strict';
import type { SortedLine } from './line-sorter.ts';
import { parentsFirst } from './parents-first.ts';

function* comments(...all: readonly [id: string, createdAt: string, parentId: string | null][]): Generator<SortedLine> {
  for (const [id, createdAt, parentId] of all)
    yield { key: `${createdAt} ${id}`, text: JSON.stringify({ id, createdAt, parentId }) };
}

const idsOf = async (lines: Iterable<SortedLine>): Promise<string> =>
  (await Array.fromAsync(parentsFirst(asAsync(lines))))
    .map(({ text }) => (JSON.parse(text) as { id: string }).id)
    .join(' ');

describe('comments of one moment', () => {
  it('come before their replies, also in long threads, and otherwise stay in order', async () => {
    assert.equal(
      await idsOf(comments(['a', '1', 'c'], ['b', '1', null], ['c', '1', 'd'], ['d', '1', null])),
      'd c a b',
    );
    assert.equal(await idsOf(comments(['b', '1', null], ['a', '2', 'b'], ['c', '2', null])), 'b a c');
  });
});

async function* asAsync<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}
