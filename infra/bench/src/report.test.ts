import assert from 'node:assert/strict';
import { all, ratioText, reaches, table } from './report.ts';

describe('a row', () => {
  it('shows the ratio of the medians and the range of the rounds', () => {
    assert.equal(ratioText({ middle: 8.24, least: 7.91, most: 12.3 }), '8.2x (7.9-12)');
    assert.equal(ratioText({ middle: 8.2, least: 8.2, most: 8.2 }), '8.2x');
    assert.equal(ratioText(null), '');
  });

  it('has a result only when there is a peer', () => {
    assert.equal(reaches({ middle: 8, least: 1, most: 9 }, 8), true);
    assert.equal(reaches({ middle: 7.9, least: 1, most: 9 }, 8), false);
    assert.equal(reaches(null, 8), null);
  });

  it('is missed when one of its goals is, and undecided while one is unknown', () => {
    assert.equal(all(true, false, null), false);
    assert.equal(all(true, null), null);
    assert.equal(all(true, true), true);
  });

  it('is padded to the width of the columns', () => {
    const [header, rule, row] = table([
      { what: 'mutate', ours: '1/s', against: '', ratio: '', goal: '', isReached: null },
    ]).split('\n');
    assert.equal(header?.length, row?.length);
    assert.match(rule ?? '', /^\|(-+\|){6}$/);
  });
});
