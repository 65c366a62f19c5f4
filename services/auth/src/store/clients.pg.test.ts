import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore } from '../../test/store.ts';
import type { TestStore } from '../../test/store.ts';
import type { ClientStore } from './clients.ts';
import { clientStore } from './clients.ts';
import { pendingRequestStore } from './pending-requests.ts';
import { AUTH_LIMITS } from '../limits.ts';

describe('the store of clients', () => {
  let store: TestStore;
  let clients: ClientStore;
  before(async () => {
    store = await openTestStore('clients');
    clients = clientStore(store.knex);
  });
  after(() => store[Symbol.asyncDispose]());

  const insert = async (): Promise<string> => {
    const id = randomUUID();
    const values = { secretHash: null, name: null, redirectUris: ['https://a.example'], applicationType: null };
    await clients.insert({ id, ...values, authMethod: 'none', grantTypes: ['authorization_code'] });
    return id;
  };
  const made = async (created: string, used: string | null, holds?: 'grant' | 'request'): Promise<string> => {
    const id = await insert();
    const sql = `update auth.clients set created_at = now() - cast(:created as interval),
      used_at = now() - cast(:used as interval) where id = :id`;
    await rows(store.knex, sql, { id, created, used });
    const grant = `insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at)
      values (gen_random_uuid(), gen_random_uuid(), :id, '{}', '{}', now(), now())`;
    if (holds === 'grant') await rows(store.knex, grant, { id });
    const key = { idHash: randomBytes(32), kind: 'authorization', browserHash: randomBytes(32) } as const;
    if (holds === 'request') await pendingRequestStore(store.knex).insert(key, {}, id);
    return id;
  };

  it('deletes a client that got no token within a day, and one that got none for long', async () => {
    const kept = [
      await made('23 hours', null),
      await made('25 hours', null, 'grant'),
      await made('25 hours', null, 'request'),
      await made('200 days', '179 days'),
      await made('200 days', '181 days', 'grant'),
    ];
    const deleted = [await made('25 hours', null), await made('200 days', '181 days')];
    assert.equal(await clients.deleteUnused(), deleted.length);
    for (const id of kept) assert.ok(await clients.find(id));
    for (const id of deleted) assert.equal(await clients.find(id), null);
  });

  it('keeps a bounded number of clients without a token: a registration deletes the oldest that no person decides about', async () => {
    const oldest = await made('24 days', null);
    const kept = [
      await made('30 days', null, 'request'),
      await made('30 days', null, 'grant'),
      await made('30 days', '1 day'),
    ];
    const isUnused = `from auth.clients where used_at is null`;
    const fill = `insert into auth.clients (id, redirect_uris, auth_method, grant_types)
      select gen_random_uuid(), '{}', 'none', '{}'
      from generate_series(1, ${AUTH_LIMITS.clientsUnusedMax} - (select count(*) ${isUnused}))`;
    await rows(store.knex, fill);
    assert.ok(await clients.find(oldest));
    const newest = await Promise.all(Array.from({ length: 5 }, insert));
    const [left] = await rows<{ n: number }>(store.knex, `select count(*)::integer as n ${isUnused}`);
    assert.ok(
      left && left.n <= AUTH_LIMITS.clientsUnusedMax && left.n > AUTH_LIMITS.clientsUnusedMax - 30,
      JSON.stringify(left),
    );
    assert.equal(await clients.find(oldest), null);
    for (const id of [...kept, ...newest]) assert.ok(await clients.find(id));
  });
});
