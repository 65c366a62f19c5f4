import { readInsert, User } from '@wts/models';
import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { assert as assertProperty, property, record, string } from 'fast-check';
import { profileOf, readEmail } from './profile.ts';

describe('the profile of a new person', () => {
  it('has name, address and picture as the provider gave them', () =>
    assert.deepEqual(
      profileOf({ name: 'Ada Lovelace', email: 'Ada@Example.com', avatarUrl: 'https://example.com/ada.png' }),
      { name: 'Ada Lovelace', email: 'Ada@Example.com', avatarUrl: 'https://example.com/ada.png' },
    ));

  it('uses the first part of the address as the name of a person without one', () => {
    assert.equal(profileOf({ email: 'grace.hopper@example.com' }).name, 'grace.hopper');
    assert.equal(profileOf({ name: ' \n ', email: 'grace@example.com' }).name, 'grace');
  });

  it('never shows the subject: a person without name and address is "Unnamed"', () =>
    assert.deepEqual(profileOf({}), { name: 'Unnamed', email: null, avatarUrl: null }));

  it('shortens a long name by whole characters', () =>
    assert.equal(profileOf({ name: '𝒜'.repeat(300) }).name, '𝒜'.repeat(200)));

  it('writes a name on one line', () => {
    assert.equal(profileOf({ name: '  Ada\r\n\t  Lovelace\u0000 ' }).name, 'Ada Lovelace');
    assert.equal(profileOf({ name: 'Ada\u200B Love\u202Elace\u{E0041}' }).name, 'Ada Lovelace');
  });

  it('leaves out a picture whose URL no page can show', () => {
    for (const avatarUrl of ['javascript:alert(1)', 'data:image/png;base64,AA', '/ada.png', '', 'https://'])
      assert.equal(profileOf({ avatarUrl }).avatarUrl, null, avatarUrl);
  });

  it('leaves out an invalid address', () => {
    for (const email of [
      '',
      'ada',
      '@example.com',
      'ada@',
      'a b@example.com',
      'a@b@c',
      ...['\u200B', '\u200D', '\u202E', '\u00AD', '\u2060', '\u{E0041}', '\u034F', '\uFE0F'].map(
        (hidden) => `ada${hidden}@example.com`,
      ),
      `${'a'.repeat(320)}@example.com`,
    ]) {
      assert.equal(readEmail(email), null, email);
    }
  });

  it('fits the User model with any claims', () => {
    const text = string({ unit: ANY_CHARACTER, maxLength: 500 });
    const claims = record({ name: text, email: text, avatarUrl: text }, { requiredKeys: [] });
    assertProperty(
      property(claims, (claimed) => {
        const reading = readInsert(User, { ...profileOf(claimed), username: null });
        assert.deepEqual(reading.ok, true);
      }),
    );
  });
});
