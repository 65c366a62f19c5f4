import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { LIMITS, type ApiKey } from '@wts/contracts';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';
import { apiKeyStore, revokeAllKeysOf, type ApiKeyStore } from './api-keys.ts';
import { identityStore } from './identities.ts';

describe('the stores', () => {
  let store: TestStore;
  before(async () => (store = await openTestStore('stores')));
  after(() => store[Symbol.asyncDispose]());

  it('cannot use the tables of the sync service, nor those of the workspace service', async () => {
    for (const sql of [
      `select * from sync.users`,
      `update sync.workspace_members set role = 'owner'`,
      `insert into sync.task_counters values (gen_random_uuid(), 1)`,
      `delete from sync.sync_actions`,
      `create table sync.mine (id int)`,
      `select * from workspace.invitations`,
    ]) {
      await assert.rejects(rows(store.knex, sql), /permission denied|does not exist/, sql);
    }
  });

  it('answer data that PostgreSQL cannot store with validation_failed, and show no SQL', async () => {
    const claim = identityStore(store.knex).claim({ issuer: 'a\u0000', subject: 'b' }, randomUUID(), {
      email: null,
      emailVerified: false,
    });
    await assert.rejects(claim, { name: 'Fault', code: 'validation_failed', publicMessage: undefined });
  });

  it('make no person of an account that was erased while it signed in [operator.erase.gone]', async () => {
    const identity = { issuer: ACCOUNT_ISSUER, subject: randomUUID() };
    const identities = identityStore(store.knex);
    const claim = identities.claim(identity, randomUUID(), { email: 'ada@example.com', emailVerified: false });
    await assert.rejects(claim, { name: 'Fault', code: 'forbidden' });
    assert.equal(await identities.find(identity), null);
  });

  describe('of API keys', () => {
    let keys: ApiKeyStore;
    before(() => (keys = apiKeyStore(store.knex)));

    const insert = (
      userId: string,
      activeMax = 10,
      madeByKey: string | null = null,
    ): ReturnType<ApiKeyStore['insert']> =>
      keys.insert(
        {
          id: randomUUID(),
          userId,
          label: 'a label',
          keyPrefix: 'wts_12345678',
          tokenHash: randomBytes(32).toString('hex'),
          permissions: 'read-only',
          workspaceId: null,
          expiresAt: null,
          madeBy: madeByKey === null ? 'session' : 'api_key',
          madeByKey,
        },
        activeMax,
      );
    const made = async (...args: Parameters<typeof insert>): Promise<ApiKey> => {
      const key = await insert(...args);
      assert.ok(typeof key === 'object', JSON.stringify(key));
      return key;
    };

    it('writes the use of a key once a minute', async () => {
      const userId = randomUUID();
      const { id } = await made(userId);
      const setUse = `update auth.api_keys set last_used_at = now() - cast(:age as interval) where id = :id
        returning last_used_at::text as at`;
      for (const [age, isWritten] of [
        ['59 seconds', false],
        ['61 seconds', true],
      ] as const) {
        const [before] = await rows<{ at: string }>(store.knex, setUse, { id, age });
        await keys.recordUse([id], 60_000);
        const read = `select last_used_at::text as at from auth.api_keys where id = :id`;
        const [now] = await rows<{ at: string }>(store.knex, read, { id });
        assert.equal(now?.at !== before?.at, isWritten, age);
      }
    });

    it('counts only live keys against the limit', async () => {
      const userId = randomUUID();
      const { id } = await made(userId, 1);
      assert.equal(await insert(userId, 1), 'too_many');
      assert.deepEqual(
        (await keys.revoke(userId, id, [])).map((key) => key.id),
        [id],
      );
      await made(userId, 1);
    });

    it('creates a bounded number a minute, also when they are revoked at once [api-keys.create.rate]', async () => {
      const userId = randomUUID();
      for (let n = 0; n < LIMITS.apiKeysPerMinuteMax; n += 1) await keys.revoke(userId, (await made(userId, 1)).id, []);
      assert.equal(await insert(userId, 1), 'too_fast');
      await made(randomUUID(), 1);
      await rows(
        store.knex,
        `update auth.api_keys set created_at = now() - interval '61 seconds' where user_id = :userId`,
        {
          userId,
        },
      );
      await made(userId, 1);
    });

    it('deletes keys some days after their revocation, but none that created one that is stored', async () => {
      const userId = randomUUID();
      const [live, maker, recent, old] = [
        await made(userId),
        await made(userId),
        await made(userId),
        await made(userId),
      ];
      const child = await made(userId, 10, maker.id);
      for (const { id } of [maker, recent, old]) await keys.revoke(userId, id, []);
      const age = `update auth.api_keys set revoked_at = now() - interval '49 hours' where id = any(:ids)`;
      await rows(store.knex, age, { ids: [maker.id, old.id] });
      const left = async (): Promise<Set<string>> => {
        await keys.deleteRevoked();
        const found = `select id from auth.api_keys where user_id = :userId`;
        return new Set((await rows<{ id: string }>(store.knex, found, { userId })).map(({ id }) => id));
      };
      assert.deepEqual(await left(), new Set([live, maker, recent, child].map(({ id }) => id)));
      await keys.revoke(userId, child.id, []);
      await rows(store.knex, age, { ids: [child.id] });
      await left();
      assert.deepEqual(await left(), new Set([live, recent].map(({ id }) => id)));
    });

    it('creates no key with a revoked one, also in parallel to its revocation, alone or with all others [api-keys.revoke.made]', async () => {
      const revokeAll = (userId: string) =>
        store.knex.transaction((transaction) => revokeAllKeysOf(transaction, userId));
      for (const revoke of [(userId: string, id: string) => keys.revokeWithMade(userId, id), revokeAll]) {
        const userId = randomUUID();
        const { id } = await made(userId);
        const racers = Array.from({ length: 8 }, () => insert(userId, 100, id));
        const ended = revoke(userId, id);
        const outcomes = await Promise.all(racers);
        await ended;
        assert.equal(await insert(userId, 100, id), 'maker_revoked');
        assert.deepEqual(await keys.listOf(userId), [], JSON.stringify(outcomes));
      }
    });

    it('finds no expired key', async () => {
      const userId = randomUUID();
      const { id } = await made(userId);
      const end = `update auth.api_keys set expires_at = now() + cast(:left as interval) where id = :id
        returning encode(token_hash, 'hex') as hash`;
      for (const [left, isLive] of [
        ['1 minute', true],
        ['0 seconds', false],
      ] as const) {
        const [key] = await rows<{ hash: string }>(store.knex, end, { id, left });
        assert.equal((await keys.findLive(key?.hash ?? '')) !== null, isLive, left);
      }
    });
  });
});
