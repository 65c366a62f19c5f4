import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { browserSession } from '../../test/browser-session.ts';
import { openTestStore } from '../../test/store.ts';
import { grantStore } from './grants.ts';
import type { GrantStore } from './grants.ts';
import { sessionStore } from './sessions.ts';

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
    await sessionStore(knex).endAllOf(userId);
    assert.equal(await insert(), false);
  });

  const redeemed = async (): Promise<{ id: string; userId: string; code: Buffer; refresh: Buffer }> => {
    const grant = { ...(await made()), refresh: randomBytes(32) };
    assert.ok(await grants.redeem(grant.code, grant.refresh));
    return grant;
  };
  const rotate = async (hash: Buffer, graceMs = 0): Promise<Buffer | null> => {
    const nextHash = randomBytes(32);
    return (await grants.rotate({ hash, nextHash, graceMs })) && nextHash;
  };
  const age = (table: string, column: string, where: string, by: string): Promise<unknown> =>
    rows(knex, `update auth.${table} set ${column} = ${column} - interval '${by}' where ${where}`);

  it('lists a grant when its code is redeemed, and no more when it is revoked', async () => {
    const { id, userId, code } = await made();
    assert.deepEqual(await grants.listOf(userId), []);
    assert.ok(await grants.redeem(code, null));
    assert.deepEqual(
      (await grants.listOf(userId)).map(({ id: listed, clientName }) => [listed, clientName]),
      [[id, 'C']],
    );
    assert.deepEqual(await grants.resolve(id), { userId, clientId: 'c', scopes: ['read'] });
    assert.deepEqual(await grants.revoke(randomUUID(), id), []);
    assert.deepEqual(await grants.revokeAllOf(userId), [{ id, userId }]);
    assert.deepEqual(await grants.revoke(userId, id), []);
    assert.deepEqual([await grants.listOf(userId), await grants.resolve(id)], [[], null]);
  });

  it('T2: of many uses of a code at the same time one succeeds', async () => {
    const { code } = await made();
    const ends = await Promise.all(Array.from({ length: 20 }, () => grants.redeem(code, randomBytes(32))));
    assert.equal(ends.filter((end) => end !== null).length, 1);
  });

  it('T1: a code expires after 60 seconds, and its grant with it', async () => {
    const { id, code } = await made();
    await age('codes', 'expires_at', `grant_id = '${id}'`, '60 seconds');
    assert.equal(await grants.redeem(code, null), null);
    await age('grants', 'expires_at', `id = '${id}'`, '60 seconds');
    assert.equal(await grants.resolve(id), null);
  });

  it('T4: a grant ends 30 days after its last use, and 90 days after its beginning', async () => {
    const { id, refresh } = await redeemed();
    const days = async (): Promise<number> => {
      const sql = `select extract(epoch from expires_at - now()) / 86400 as days from auth.grants where id = :id`;
      return Math.round(Number((await rows<{ days: string }>(knex, sql, { id }))[0]?.days));
    };
    assert.equal(await days(), 30);
    await age('grants', 'created_at', `id = '${id}'`, '80 days');
    const next = await rotate(refresh);
    assert.ok(next);
    assert.equal(await days(), 10);
    await age('refresh_tokens', 'expires_at', `grant_id = '${id}'`, '30 days');
    assert.equal(await rotate(next), null);
    assert.deepEqual(await grants.revokeReused(next), []);
  });

  it('T5: with a grace, only the token before the current one is accepted again, while the current one is unused', async () => {
    const { refresh } = await redeemed();
    const second = await rotate(refresh, 60_000);
    assert.ok(second);
    assert.equal(await rotate(refresh), null);
    assert.ok(await rotate(refresh, 60_000));
    assert.ok(await rotate(second, 60_000));
    assert.equal(await rotate(refresh, 60_000), null);
    await age('refresh_tokens', 'used_at', `hash = '\\x${second.toString('hex')}'`, '61 seconds');
    assert.equal(await rotate(second, 60_000), null);
  });

  it('revokes nothing for a token that is unknown or was not used', async () => {
    const { refresh, code, id, userId } = await redeemed();
    assert.deepEqual(await grants.revokeReused(randomBytes(32)), []);
    assert.deepEqual(await grants.revokeReused(refresh), []);
    assert.deepEqual(await grants.revokeReused(code), [{ id, userId }]);
    assert.equal(await rotate(refresh), null);
  });

  it('deletes a grant with its tokens when no access token of it is left', async () => {
    const [ended, revoked, live] = [await redeemed(), await redeemed(), await redeemed()];
    await grants.revoke(revoked.userId, revoked.id);
    await age('grants', 'expires_at', `id = '${ended.id}'`, '30 days 31 minutes');
    await age('grants', 'revoked_at', `id = '${revoked.id}'`, '31 minutes');
    await grants.deleteEnded();
    for (const [{ refresh, code }, isKept] of [
      [ended, false],
      [revoked, false],
      [live, true],
    ] as const) {
      assert.equal((await grants.findByRefreshToken(refresh)) !== null, isKept);
      assert.equal((await grants.findByCode(code)) !== null, isKept);
    }
  });
});
