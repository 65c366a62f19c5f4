import assert from 'node:assert/strict';
import { cellSecrets, newSecrets } from './new-secrets.ts';

const addressesOf = (name: string) => ({ database: `postgres://${name}/wts`, nats: `nats://${name}:4222` });

describe('the secrets of a further cell', () => {
  it('let auth and the services of the cell call each other, and no service of another cell', () => {
    const before = newSecrets(addressesOf('first'));
    const { cell: one, first: withOne } = cellSecrets(before, 1, addressesOf('one'));
    const { cell: two, first } = cellSecrets(withOne, 2, addressesOf('two'));
    const keysOf = (values: typeof first, key = 'INTERNAL_TOKEN_PUBLIC_KEYS') =>
      JSON.parse(values[key] ?? '') as Record<string, string[]>;
    const [ofFirst, ofOne, ofTwo] = [keysOf(first), keysOf(one), keysOf(two)];
    assert.deepEqual(ofFirst, keysOf(before));
    for (const [name, keys] of Object.entries(keysOf(first, 'AUTH_INTERNAL_TOKEN_PUBLIC_KEYS'))) {
      const others = [ofFirst[name], ofOne[name], ofTwo[name]].flat();
      assert.deepEqual(keys, name === 'auth' ? ofFirst['auth'] : others, name);
      assert.equal(new Set(others).size, name === 'auth' ? 1 : 3, name);
    }
    assert.equal(new URL(first['CELL_2_NATS_URL'] ?? '').password, two['NATS_PASSWORD_AUTH']);
    assert.deepEqual(
      Object.keys(one).filter((key) => key.startsWith('AUTH_')),
      [],
    );
  });
});
