import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { LineSorter, type SortedLine } from './line-sorter.ts';

describe('a sorter of lines', () => {
  it('returns every line in order, however little it may keep in memory', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => String((index * 7919) % 199).padStart((index % 4) + 1, ' '));
    for (const runChars of [1, 40, 1_000, Infinity]) {
      await using sorter = LineSorter.temporary(runChars);
      for (const [index, key] of keys.entries()) await sorter.add(key, `text ${index}\twith a tab`);
      const sorted: SortedLine[] = await Array.fromAsync(sorter.sorted());
      assert.deepEqual(
        sorted.map(({ key }) => key),
        keys.toSorted((a, b) => (a < b ? -1 : Number(a > b))),
      );
      assert.equal(new Set(sorted.map(({ text }) => text)).size, keys.length);
    }
  });

  it('removes its files, and is empty again', async () => {
    const folder = join(scratch('sorter'), 'runs');
    const sorter = new LineSorter(folder, 1);
    await sorter.add('b', 'two');
    assert.ok(existsSync(folder));
    await sorter[Symbol.asyncDispose]();
    assert.ok(!existsSync(folder));
    await sorter.add('a', 'one');
    assert.deepEqual(await Array.fromAsync(sorter.sorted()), [{ key: 'a', text: 'one' }]);
    await sorter[Symbol.asyncDispose]();
  });
});
