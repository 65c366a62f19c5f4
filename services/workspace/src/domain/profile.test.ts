import { readInsert, User } from '@wts/models';
import assert from 'node:assert/strict';
import { assert as assertProperty, property, record, string } from 'fast-check';
import { profileOf, readEmail, sameAddress } from './profile.ts';

describe('the profile of a new person', () => {
  it('takes name, address and picture as the provider gave them', () => {
    assert.deepEqual(
      profileOf({ name: 'Ada Lovelace', email: 'Ada@Example.com', avatarUrl: 'https://example.com/ada.png' }),
      { name: 'Ada Lovelace', email: 'Ada@Example.com', avatarUrl: 'https://example.com/ada.png' },
    );
  });

  it('calls a person without a name by the first part of their address', () => {
    assert.equal(profileOf({ email: 'grace.hopper@example.com' }).name, 'grace.hopper');
    assert.equal(profileOf({ name: ' \n ', email: 'grace@example.com' }).name, 'grace');
  });

  it('never shows the subject: who has neither name nor address is unnamed', () => {
    assert.deepEqual(profileOf({}), { name: 'Unnamed', email: null, avatarUrl: null });
  });

  it('cuts a long name by whole characters', () => {
    assert.equal(profileOf({ name: '𝒜'.repeat(300) }).name, '𝒜'.repeat(200));
  });

  it('makes one line of a name', () => {
    assert.equal(profileOf({ name: '  Ada\r\n\t  Lovelace\u0000 ' }).name, 'Ada Lovelace');
  });

  it('leaves out a picture that no page could show', () => {
    for (const avatarUrl of ['javascript:alert(1)', 'data:image/png;base64,AA', '/ada.png', '', 'https://']) {
      assert.equal(profileOf({ avatarUrl }).avatarUrl, null, avatarUrl);
    }
  });

  it('leaves out an address that is none', () => {
    for (const email of [
      '',
      'ada',
      '@example.com',
      'ada@',
      'a b@example.com',
      'a@b@c',
      `${'a'.repeat(320)}@example.com`,
    ]) {
      assert.equal(readEmail(email), null, email);
    }
  });

  it('fits the User model whatever a provider claims', () => {
    const text = string({ unit: 'binary', maxLength: 500 });
    const claims = record({ name: text, email: text, avatarUrl: text }, { requiredKeys: [] });
    assertProperty(
      property(claims, (claimed) => {
        const reading = readInsert(User, { ...profileOf(claimed), username: null });
        assert.deepEqual(reading.ok, true);
      }),
    );
  });
});

describe('addresses', () => {
  it('are the same whatever their case', () => {
    assert.ok(sameAddress('Ada@Example.COM', 'ada@example.com'));
    assert.ok(!sameAddress('ada@example.com', 'ada@example.org'));
  });

  it('are the same in both spellings of a domain that is not ASCII, and however an accent is composed', () => {
    assert.ok(sameAddress('jörg@Bücher.de', 'jo\u0308rg@xn--bcher-kva.de'));
    assert.ok(!sameAddress('jorg@bücher.de', 'jörg@bücher.de'));
    assert.ok(!sameAddress('a@b@example.com', 'a@example.com'));
    // What is no domain is compared as it stands.
    assert.ok(!sameAddress('a@<', 'a@>'));
  });
});
