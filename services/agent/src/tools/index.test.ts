import assert from 'node:assert/strict';
import { wordsOf } from '@wts/contracts';
import { TOOLS } from './index.ts';

/** Every pattern in a schema. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, part]: [string, unknown]) =>
    name === 'pattern' && typeof part === 'string' ? [part] : patternsIn(part),
  );
}

describe('the inputs of the tools', () => {
  it('are refused in words, because a model does not mend an argument by a regular expression', () => {
    const patterns = new Set(TOOLS.flatMap(({ input }) => patternsIn(input)));
    assert.ok(patterns.size > 1);
    for (const pattern of patterns) assert.ok(wordsOf(pattern), pattern);
  });
});
