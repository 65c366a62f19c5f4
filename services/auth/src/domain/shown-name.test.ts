import assert from 'node:assert/strict';
import { shownName } from './shown-name.ts';

describe('the shown name of a client', () => {
  it('has no control characters and no characters that hide or reorder words [authentication.consent.client-name]', () => {
    assert.equal(shownName('Good\u202Eevil\u202C \u200BApp\u0000\u001b[2J\u2066x\u2069'), 'Goodevil App[2Jx');
    assert.equal(shownName('  two\nlines\t '), 'two lines');
  });

  it('has at most 100 characters, and is never empty [authentication.consent.client-name]', () => {
    assert.equal([...shownName('😀'.repeat(101))].length, 100);
    for (const name of [null, '', ' ', '\u200B\u202E']) assert.equal(shownName(name), 'An app without a name');
  });
});
