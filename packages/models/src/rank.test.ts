import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rankBetween, ranksBetween } from './rank.ts';

/** Any client's rank: short ones of few characters collide and touch often. */
const anyRank = fc.oneof(
  fc.string({ unit: fc.constantFrom(' ', '!', 'a', 'b', '}', '~'), maxLength: 6 }),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 12 }),
  fc.integer().map(String),
  fc.constantFrom('', 'a0', 'a1', 'Zz', '0|hzzzzz:', '1.5'),
);
const isRank = (text: string): boolean => /^[\x20-\x7e]*$/.test(text) && text.length <= 256;
/** Nothing sorts between a rank and the same rank with spaces. */
const touches = (low: string, high: string): boolean => high.startsWith(low) && /^ *$/.test(high.slice(low.length));

describe('a rank between two others', () => {
  it('is between any two ranks of any client, except where none is', () =>
    fc.assert(
      fc.property(anyRank, anyRank, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const rank = rankBetween(low, high);
        if (touches(low, high) && high.length <= low.length + 1) assert.equal(rank, null);
        if (rank === null) assert.ok(touches(low, high), `a rank is between "${low}" and "${high}"`);
        else assert.ok(low < rank && rank < high && isRank(rank), `"${low}" < "${rank}" < "${high}"`);
      }),
      { numRuns: 5000 },
    ));

  it('is after any rank, and there is none in the wrong order', () =>
    fc.assert(
      fc.property(anyRank, (low) => {
        const rank = rankBetween(low, null);
        assert.ok(rank !== null && low < rank && isRank(rank));
        assert.equal(rankBetween(rank, low), null);
        assert.equal(rankBetween(low, low), null);
      }),
    ));

  it('stays short where a thousand records are appended, or placed at the same spot', () => {
    let last = '';
    for (let count = 0; count < 1000; count += 1) last = rankBetween(last, null) ?? assert.fail('no rank is left');
    assert.ok(last.length < 80, `${last.length} characters`);
    let high = rankBetween('', null) ?? '';
    for (let count = 0; count < 1000; count += 1) high = rankBetween('', high) ?? assert.fail('no rank is left');
    assert.ok(high.length < 200, `${high.length} characters`);
  });

  it('gives several ranks in ascending order', () => {
    fc.assert(
      fc.property(anyRank, fc.option(anyRank), fc.integer({ min: 1, max: 60 }), (low, high, count) => {
        const ranks = ranksBetween(low, high, count);
        if (ranks === null) return;
        assert.equal(ranks.length, count);
        const all = high === null ? [low, ...ranks] : [low, ...ranks, high];
        for (const [index, rank] of all.entries()) if (index > 0) assert.ok((all[index - 1] ?? '') < rank);
      }),
    );
    assert.equal(ranksBetween('', null, 99)?.length, 99);
  });
});
