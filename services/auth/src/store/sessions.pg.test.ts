import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore } from '../../test/store.ts';
import { NO_VISITOR } from '../domain/security-event.ts';
import { accountStore } from './accounts.ts';
import { sessionStore } from './sessions.ts';
import { AUTH_LIMITS } from '../limits.ts';

const visitor = NO_VISITOR;

describe('the store of sessions', () => {
  it('keeps a bounded number for each person: a new session ends the one that was used longest ago', async () => {
    await using store = await openTestStore('sessions-bound');
    const sessions = sessionStore(store.knex, { hasAccounts: true });
    const userId = randomUUID();
    const begin = async (person = userId): Promise<string> => {
      const id = randomUUID();
      assert.ok(await sessions.insert({ id, secretHash: randomBytes(32), userId: person, account: null, visitor }));
      return id;
    };
    const other = await begin(randomUUID());
    const first = await begin();
    const second = await begin();
    const setUse = `update auth.sessions set last_used_at = now() - interval '1 hour' where id = :id`;
    await rows(store.knex, setUse, { id: second });
    for (let n = 2; n <= AUTH_LIMITS.sessionsPerPersonMax; n += 1) await begin();
    const left = (await rows<{ id: string }>(store.knex, `select id from auth.sessions`)).map(({ id }) => id);
    assert.equal(left.length, AUTH_LIMITS.sessionsPerPersonMax + 1);
    assert.deepEqual([left.includes(other), left.includes(first), left.includes(second)], [true, true, false]);
  });

  it('begins none with a password that was changed since it was checked [authentication.accounts.password-change]', async () => {
    await using store = await openTestStore('sessions');
    const [accounts, sessions] = [accountStore(store.knex), sessionStore(store.knex, { hasAccounts: true })];
    const account = { id: randomUUID(), passwordHash: 'old' };
    const email = `${account.id}@example.com`;
    await accounts.insert({ ...account, email, comparableEmail: email, name: 'Ada', emailVerified: false });
    const begin = (): Promise<boolean> =>
      sessions.insert({ id: randomUUID(), secretHash: randomBytes(32), userId: randomUUID(), account, visitor });
    assert.equal(await begin(), true);
    await accounts.changePassword(account.id, { from: 'old', to: 'new' });
    assert.equal(await begin(), false);
  });
});
