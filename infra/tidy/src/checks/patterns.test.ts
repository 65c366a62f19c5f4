import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { slowPatterns } from './patterns.ts';

const inFile = (code: string): string[] =>
  slowPatterns(plantedTree({ 'packages/one/src/one.ts': code }), []).map(({ message }) => message);

describe('the check of patterns', () => {
  // It runs patterns until they are shown to be slow, which takes long next to other work.
  it('finds what takes the square of the length, wherever in it', () => {
    for (const slow of [String.raw`/^type[ \t]*(?:;[ \t]*utf-8)?;?[ \t]*$/i`, String.raw`/\s+$/`])
      assert.equal(inFile(`const pattern = ${slow};`).length, 1, slow);
    const source = '^[a-z]+[a-z0-9]+$';
    assert.match(slowPatterns(plantedTree({}), [source])[0]?.message ?? '', /more than linear/);
  });

  it('lets pass what is linear, and what is no pattern', () => {
    for (const fine of [
      String.raw`/^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*$/`,
      String.raw`/^type[ \t]{0,8};?[ \t]{0,8}$/i`,
      'total / count / 2',
    ]) {
      assert.deepEqual(inFile(`const pattern = ${fine};`), [], fine);
    }
  });
});
