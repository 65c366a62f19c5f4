import assert from 'node:assert/strict';
import { Answers } from './answer-bytes.ts';

describe('the bytes of an answer [graphql.limit.answers]', () => {
  it('are given back when it is over, and rows that arrive later take none', () => {
    const answers = new Answers({ bytesMax: 1_000_000 });
    for (const before of [0, 100_000]) {
      const bytes = answers.open('ann');
      assert.ok(bytes.resize(before));
      assert.equal(answers.bytes, before);
      bytes[Symbol.dispose]();
      assert.equal(bytes.add(100_000, 1_000_000), true);
      assert.equal(bytes.add(1_000_000, 1_000_000), false);
      assert.equal(answers.bytes, 0);
    }
  });
});
