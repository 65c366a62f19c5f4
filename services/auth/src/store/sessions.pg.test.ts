import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { openTestStore } from '../../test/store.ts';
import { accountStore } from './accounts.ts';
import { sessionStore } from './sessions.ts';

describe('the store of sessions', () => {
  it('begins none with a password that was changed since it was checked [authentication.accounts.password-change]', async () => {
    await using store = await openTestStore('sessions');
    const [accounts, sessions] = [accountStore(store.knex), sessionStore(store.knex)];
    const account = { id: randomUUID(), passwordHash: 'old' };
    const email = `${account.id}@example.com`;
    await accounts.insert({ ...account, email, comparableEmail: email, name: 'Ada', emailVerified: false });
    const begin = (): Promise<boolean> =>
      sessions.insert({ id: randomUUID(), secretHash: randomBytes(32), userId: randomUUID(), account });
    assert.equal(await begin(), true);
    await accounts.changePassword(account.id, { from: 'old', to: 'new' });
    assert.equal(await begin(), false);
  });
});
