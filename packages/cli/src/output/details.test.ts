import assert from 'node:assert/strict';
import { detailsText } from './details.ts';
import type { Look } from './look.ts';

const LOOK: Look = {
  isTerminal: true,
  isColored: false,
  isAccessible: false,
  columns: 80,
  timezone: 'UTC',
  now: new Date(),
};

describe('the facts of a record', () => {
  it('have a title each in a pipe, and for a person the record itself has none', () => {
    const details = [
      { title: 'Name', isHeading: true, value: 'Ana', shown: 'Ana <ana@example.com>' },
      { title: 'Id', value: '7' },
    ];
    assert.equal(detailsText(details, LOOK, false), 'name\tAna\nid\t7\n');
    assert.equal(detailsText(details, LOOK, true), 'Ana <ana@example.com>\nId  7\n');
  });
});
