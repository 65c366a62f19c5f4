import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { eventually } from '@wts/testkit';
import type { Knex } from 'knex';
import { browserSession } from '../../test/browser-session.ts';
import { openTestStore } from '../../test/store.ts';
import { firstRefreshToken, refreshHashesOf, successorOf } from '../domain/refresh-token.ts';
import { grantStore, type GrantStore, type RevokedGrant } from './grants.ts';
import { ACCOUNT_ISSUER, accountStore } from './accounts.ts';
import { identityStore } from './identities.ts';
import { sessionStore } from './sessions.ts';
import { AUTH_LIMITS } from '../limits.ts';

/** A grant that just ended, as its store returns it. */
const ended = ({ id, userId }: Pick<RevokedGrant, 'id' | 'userId'>): RevokedGrant => ({
  id,
  userId,
  clientName: 'C',
  workspaceId: null,
});

describe('the store of grants', () => {
  const stack = new AsyncDisposableStack();
  let knex: Knex;
  let grants: GrantStore;
  before(async () => {
    ({ knex } = stack.use(await openTestStore('grants')));
    grants = grantStore(knex);
  });
  after(() => stack.disposeAsync());

  const made = async (): Promise<{ id: string; userId: string; code: Buffer }> => {
    const grant = { id: randomUUID(), userId: randomUUID(), code: randomBytes(32) };
    const values = { clientId: 'c', clientName: 'C', scopes: ['read'], resources: ['https://api.example'] } as const;
    const more = { redirectUri: 'https://app.example/cb', challenge: 'x', signedInAt: new Date() };
    const sessionId = await browserSession(knex, grant.userId);
    assert.ok(await grants.insert({ id: grant.id, userId: grant.userId, sessionId, ...values, ...more }, grant.code));
    return grant;
  };
  it('begins only in a session that has not ended, so no grant survives a change of the password [authentication.accounts.password-change]', async () => {
    const userId = randomUUID();
    const sessionId = await browserSession(knex, userId);
    const grant = { clientId: 'c', clientName: 'C', scopes: ['read'], resources: ['https://api.example'] } as const;
    const more = { redirectUri: 'https://app.example/cb', challenge: 'x', signedInAt: new Date() };
    const insert = (person = userId): Promise<boolean> =>
      grants.insert({ id: randomUUID(), userId: person, sessionId, ...grant, ...more }, randomBytes(32));
    assert.equal(await insert(), true);
    assert.equal(await insert(randomUUID()), false);
    await sessionStore(knex, { hasAccounts: true }).endAllOf(userId);
    assert.equal(await insert(), false);
  });

  const exchanged = async (): Promise<{ id: string; userId: string; code: Buffer; refresh: string }> => {
    const grant = { ...(await made()), refresh: firstRefreshToken() };
    assert.ok(await grants.exchange(grant.code, refreshHashesOf(grant.refresh)));
    return grant;
  };
  const rotate = async (token: string, graceMs = 0): Promise<string | null> => {
    const nonce = randomBytes(32);
    const { hash: nextHash } = refreshHashesOf(successorOf(token, nonce));
    const rotated = await grants.rotate({ ...refreshHashesOf(token), nextHash, nonce, graceMs });
    return rotated && successorOf(token, rotated.nonce);
  };
  const reused = (token: string): ReturnType<GrantStore['revokeOfUsedToken']> =>
    grants.revokeOfUsedToken(refreshHashesOf(token));
  const age = (table: string, column: string, where: string, by: string): Promise<unknown> =>
    rows(knex, `update auth.${table} set ${column} = ${column} - interval '${by}' where ${where}`);

  it('revokes those of people with an account, and of no others, when the accounts are closed [authentication.accounts.off]', async () => {
    const [ofAccount, ofProvider] = [await made(), await made()];
    const identities = identityStore(knex);
    const address = { email: null, emailVerified: false };
    const subject = randomUUID();
    const account = { comparableEmail: `${subject}@example.com`, email: `${subject}@example.com`, name: 'Ada' };
    await accountStore(knex).insert({ id: subject, ...account, emailVerified: false, passwordHash: 'x' });
    await identities.claim({ issuer: ACCOUNT_ISSUER, subject }, ofAccount.userId, address);
    await identities.claim({ issuer: 'https://idp.example', subject: randomUUID() }, ofProvider.userId, address);
    assert.deepEqual(await grants.revokeOfAccounts(), [ended(ofAccount)]);
    assert.equal(await grants.exchange(ofAccount.code, null), null);
    assert.ok(await grants.exchange(ofProvider.code, null));
  });

  it('ends when its person chose, however often it is used, and is for the workspace that they chose [authentication.consent.choices]', async () => {
    const { id, code } = await made();
    const workspaceId = randomUUID();
    const limit = `update auth.grants set ends_at = now() + interval '2 days', workspace_id = :workspaceId where id = :id`;
    await rows(knex, limit, { id, workspaceId });
    const refresh = firstRefreshToken();
    const days = (end: Date | null | undefined): number =>
      Math.round(((end?.getTime() ?? 0) - Date.now()) / 86_400_000);
    assert.equal(days(await grants.exchange(code, refreshHashesOf(refresh))), 2);
    const [nonce, next] = [randomBytes(32), randomBytes(32)];
    const rotated = await grants.rotate({ ...refreshHashesOf(refresh), nextHash: next, nonce, graceMs: 0 });
    assert.equal(days(rotated?.expiresAt), 2);
    assert.equal((await grants.resolve(id))?.workspaceId, workspaceId);
  });

  it('lists a grant when its code is exchanged, and no more when it is revoked', async () => {
    const { id, userId, code } = await made();
    assert.deepEqual(await grants.listOf(userId), []);
    assert.ok(await grants.exchange(code, null));
    assert.deepEqual(
      (await grants.listOf(userId)).map(({ id: listed, clientName }) => [listed, clientName]),
      [[id, 'C']],
    );
    assert.deepEqual(await grants.resolve(id), { userId, clientId: 'c', scopes: ['read'], workspaceId: null });
    assert.deepEqual(await grants.revoke(randomUUID(), id), []);
    assert.deepEqual(await grants.revokeAllOf([userId]), [ended({ id, userId })]);
    assert.deepEqual(await grants.revoke(userId, id), []);
    assert.deepEqual([await grants.listOf(userId), await grants.resolve(id)], [[], null]);
  });

  it('of many uses of a code at the same time one succeeds', async () => {
    const { code } = await made();
    const ends = await Promise.all(Array.from({ length: 20 }, () => grants.exchange(code, null)));
    assert.equal(ends.filter((end) => end !== null).length, 1);
  });

  it('a code expires after 60 seconds, and its grant with it', async () => {
    const { id, code } = await made();
    await age('codes', 'expires_at', `grant_id = '${id}'`, '60 seconds');
    assert.equal(await grants.exchange(code, null), null);
    await age('grants', 'expires_at', `id = '${id}'`, '60 seconds');
    assert.equal(await grants.resolve(id), null);
  });

  it('a grant ends 30 days after its last use, and 90 days after its beginning', async () => {
    const { id, refresh } = await exchanged();
    const days = async (): Promise<number> => {
      const sql = `select extract(epoch from expires_at - now()) / 86400 as days from auth.grants where id = :id`;
      return Math.round(Number((await rows<{ days: string }>(knex, sql, { id }))[0]?.days));
    };
    assert.equal(await days(), 30);
    await age('grants', 'created_at', `id = '${id}'`, '80 days');
    const next = await rotate(refresh);
    assert.ok(next);
    assert.equal(await days(), 10);
    await age('grants', 'expires_at', `id = '${id}'`, '30 days');
    assert.equal(await rotate(next), null);
    assert.deepEqual(await reused(next), []);
  });

  it('with a grace, only the token before the current one is accepted again, while the current one is unused, and gets the same one', async () => {
    const { refresh, id, userId } = await exchanged();
    const second = await rotate(refresh, 60_000);
    assert.ok(second);
    assert.equal(await rotate(refresh), null);
    const siblings = await Promise.all([1, 2, 3].map(() => rotate(refresh, 60_000)));
    assert.deepEqual(siblings, [second, second, second], 'one branch');
    const third = await rotate(second, 60_000);
    assert.ok(third);
    assert.equal(await rotate(refresh, 60_000), null);
    assert.equal(await rotate(second, 60_000), third);
    await age('grants', 'refreshed_at', `id = '${id}'`, '61 seconds');
    assert.equal(await rotate(second, 60_000), null);
    assert.deepEqual(await reused(second), [ended({ id, userId })]);
    assert.equal(await rotate(third, 60_000), null);
  });

  it('recognizes every older token of a grant, and stores only the current one', async () => {
    const { refresh, id, userId } = await exchanged();
    const older = [refresh];
    for (let n = 0; n < 3; n += 1) older.push((await rotate(older.at(-1) ?? '')) ?? '');
    const current = older.pop() ?? '';
    assert.deepEqual(await reused(current), []);
    for (const token of older) {
      assert.equal(await rotate(token), null);
      assert.deepEqual(await reused(token), [ended({ id, userId })]);
      await rows(knex, `update auth.grants set revoked_at = null where id = :id`, { id });
    }
    const read = `select g::text as content from auth.grants g where id = :id`;
    const content = (await rows<{ content: string }>(knex, read, { id }))[0]?.content ?? '';
    for (const token of older) {
      const { family, hash } = refreshHashesOf(token);
      assert.ok(content.includes(family.toString('hex')));
      assert.equal(content.includes(hash.toString('hex')), token === older.at(-1), 'the one before, for the grace');
    }
    assert.ok(await rotate(current));
  });

  it('revokes nothing for a token that is unknown or was not used', async () => {
    const { refresh, code, id, userId } = await exchanged();
    assert.deepEqual(await grants.revokeOfUsedCode(randomBytes(32)), []);
    assert.deepEqual(await reused(firstRefreshToken()), []);
    assert.deepEqual(await reused(refresh), []);
    assert.deepEqual(await grants.revokeOfUsedCode(code), [ended({ id, userId })]);
    assert.equal(await rotate(refresh), null);
  });

  it('has a bound for each person, beyond which the grants used longest ago end', async () => {
    const { id, userId, refresh } = await exchanged();
    const other = await exchanged();
    await rows(
      knex,
      `insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, created_at, used_at, expires_at)
      select gen_random_uuid(), :userId, 'c' || n, '{}', '{}', now(), now() - interval '2 days',
        now() - n * interval '1 minute', now() + interval '1 day' from generate_series(1, ${AUTH_LIMITS.grantsPerPersonMax}) n`,
      { userId },
    );
    assert.equal((await grants.revokeExcess(userId)).length, 1);
    assert.ok(!(await grants.listOf(userId)).some(({ clientId }) => clientId === `c${AUTH_LIMITS.grantsPerPersonMax}`));
    await age('grants', 'used_at', `id = '${id}'`, '1 day');
    assert.deepEqual(await grants.revokeExcess(userId), []);
    await rows(knex, `update auth.grants set revoked_at = null where user_id = :userId`, { userId });
    assert.deepEqual(await grants.revokeExcess(userId), [ended({ id, userId })]);
    assert.equal(await rotate(refresh), null);
    assert.ok(await rotate(other.refresh));
  });

  it('locks the grants of a person in the order of their ids, so no two revocations wait for each other', async () => {
    const userId = randomUUID();
    const [low, high] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    for (const id of [high, low]) {
      await rows(
        knex,
        `insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at)
        values (:id, :userId, 'c', '{}', '{}', now(), now() + interval '1 day')`,
        { id, userId },
      );
    }
    const held = await knex.transaction();
    const locked = `select id from auth.grants where id = :id for update nowait`;
    await held.raw(locked, { id: low });
    const revoking = grants.revokeAllOf([userId]);
    await eventually(async () => {
      const waiting = await rows(
        knex,
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length === 1;
    });
    await held.raw(locked, { id: high });
    await held.commit();
    assert.equal((await revoking).length, 2);
  });

  it('deletes a grant with its tokens when no access token of it is left', async () => {
    const [expired, revoked, live] = [await exchanged(), await exchanged(), await exchanged()];
    await grants.revoke(revoked.userId, revoked.id);
    await age('grants', 'expires_at', `id = '${expired.id}'`, '30 days 31 minutes');
    await age('grants', 'revoked_at', `id = '${revoked.id}'`, '31 minutes');
    await grants.deleteEnded();
    for (const [{ refresh, code }, isKept] of [
      [expired, false],
      [revoked, false],
      [live, true],
    ] as const) {
      assert.equal((await grants.findByRefreshToken(refreshHashesOf(refresh))) !== null, isKept);
      assert.equal((await grants.findByCode(code)) !== null, isKept);
    }
  });
});
