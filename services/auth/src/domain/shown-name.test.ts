import assert from 'node:assert/strict';
import { shownAppName, shownName } from './shown-name.ts';

describe('a shown name', () => {
  it('has no control characters and no characters that hide or reorder words [authentication.consent.client-name]', () => {
    assert.equal(shownAppName('Good\u202Eevil\u202C \u200BApp\u0000\u001b[2J\u2066x\u2069'), 'Goodevil App[2Jx');
    assert.equal(shownAppName('  two\nlines\t '), 'two lines');
  });

  it('has at most 100 characters, and is never empty [authentication.consent.client-name]', () => {
    assert.equal([...shownAppName('😀'.repeat(101))].length, 100);
    for (const name of [null, '', ' ', '\u200B\u202E']) assert.equal(shownAppName(name), 'An app without a name');
  });

  it('keeps the joiners of Persian words and of emoji, but is not made of them alone', () => {
    for (const name of ['می\u200Cخواهم', '👩\u200D💻']) assert.equal(shownName(name), name);
    assert.equal(shownName('\u200D \u200C'), '');
    assert.equal(
      shownAppName(`${'\u200D'.repeat(100)}App`),
      'An app without a name',
      'also when only its end can be seen',
    );
  });

  it('of a person or an address is whole', () => {
    const address = `${'a'.repeat(64)}@${'b'.repeat(255)}`;
    assert.equal(shownName(address), address);
  });
});
