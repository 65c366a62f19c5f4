import assert from 'node:assert/strict';
import { deriveKey, seal, unseal } from './sealing.ts';

describe('sealing', () => {
  const key = deriveKey('the secret of a cluster', 'test');
  const name = Buffer.from('one');

  it('returns the text with the same key and name', () =>
    assert.equal(unseal(key, name, seal(key, name, 'a secret that is shown once')), 'a secret that is shown once'));

  it('throws with another name, with a key of another use, or with a changed byte', () => {
    const sealed = seal(key, name, 'text');
    assert.throws(() => unseal(key, Buffer.from('other'), sealed));
    assert.throws(() => unseal(deriveKey('the secret of a cluster', 'other'), name, sealed));
    sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 1;
    assert.throws(() => unseal(key, name, sealed));
  });

  it('makes different bytes each time', () => assert.notDeepEqual(seal(key, name, 'text'), seal(key, name, 'text')));
});
