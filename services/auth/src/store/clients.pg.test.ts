import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { clientStore, type ClientStore } from './clients.ts';
import { pendingRequestStore, type PendingKey } from './pending-requests.ts';
import { AUTH_LIMITS } from '../limits.ts';

describe('the store of clients', () => {
  let store: TestStore;
  let clients: ClientStore;
  before(async () => {
    store = await openTestStore('clients');
    clients = clientStore(store.knex);
  });
  after(() => store[Symbol.asyncDispose]());

  const insert = async (network = 'one'): Promise<string> => {
    const id = randomUUID();
    const values = { secretHash: null, name: null, redirectUris: ['https://a.example'], applicationType: null };
    await clients.insert({ id, ...values, authMethod: 'none', grantTypes: ['authorization_code'] }, network);
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
    if (holds === 'request') await pendingRequestStore(store.knex).insert(key, {}, { network: 'one', clientId: id });
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

  const countOf = async (counted: string): Promise<number> =>
    (await rows<{ n: number }>(store.knex, `select count(*)::integer as n from ${counted}`))[0]?.n ?? -1;

  it('keeps a bounded number of clients without a token: beyond it the oldest of the networks with most are deleted, and no others [authentication.oauth.register-bounds]', async () => {
    const first = await insert('2001:db8:1:1::/64');
    const oldest = await made('24 days', null);
    const held = [await made('30 days', null, 'request'), await made('30 days', null, 'grant')];
    const used = await made('30 days', '1 day');
    // Strangers: two networks, and many of one IPv6 network of 48 bits, each with a person who decides about each client.
    const fill = `insert into auth.clients (id, redirect_uris, auth_method, grant_types, network)
      select gen_random_uuid(), '{}', 'none', '{}', case n % 3 when 0 then 'one' when 1 then 'two' else '2001:db8:2::/48' end
      from generate_series(1, ${AUTH_LIMITS.clientsUnusedMax} - (select count(*) from auth.clients where used_at is null)) n`;
    await rows(store.knex, fill);
    const pin = `insert into auth.pending_requests (id_hash, kind, browser_hash, content, client_id, expires_at)
      select sha256(id::bytea), 'authorization', sha256('x'), '{}', id, now() + interval '10 minutes' from auth.clients where network = 'two'`;
    await rows(store.knex, pin);
    assert.ok(await clients.find(oldest));
    const newest = [...(await Promise.all(['three', 'four'].map(insert))), await insert('2001:db8:2:ffff::/64')];
    const left = await countOf('auth.clients where used_at is null');
    assert.ok(left <= AUTH_LIMITS.clientsUnusedMax && left >= AUTH_LIMITS.clientsUnusedMax * 0.9, `${left}`);
    assert.equal(await clients.find(oldest), null);
    for (const id of [first, ...held, used, ...newest]) assert.ok(await clients.find(id));
    const networks = await Promise.all(
      ["'one'", "'two'", "'2001:db8:2::/48'"].map((name) =>
        countOf(`auth.clients where used_at is null and network = ${name}`),
      ),
    );
    assert.ok(
      Math.max(...networks) - Math.min(...networks) < 10,
      `all give alike, also with people who decide: ${networks.join()}`,
    );
    await rows(store.knex, `delete from auth.pending_requests`);
  });

  it('keeps a bounded number of clients that got a token and have no grant [authentication.oauth.register-bounds]', async () => {
    const kept = [await made('2 days', '1 day', 'grant'), await made('2 days', '1 day')];
    const fill = `insert into auth.clients (id, redirect_uris, auth_method, grant_types, network, used_at)
      select gen_random_uuid(), '{}', 'none', '{}', 'script', now() from generate_series(1, ${AUTH_LIMITS.clientsWithoutGrantMax + 50})`;
    await rows(store.knex, fill);
    await clients.deleteUnused();
    const left = await countOf('auth.clients where used_at is not null');
    assert.ok(left <= AUTH_LIMITS.clientsWithoutGrantMax + 10, `${left}`);
    for (const id of kept) assert.ok(await clients.find(id));
  });

  it('keeps a bounded number of requests that wait for a person, those of networks with few too [authentication.oauth.register-bounds]', async () => {
    const pending = pendingRequestStore(store.knex);
    const begin = async (network: string): Promise<PendingKey> => {
      const key = { idHash: randomBytes(32), kind: 'authorization', browserHash: randomBytes(32) } as const;
      await pending.insert(key, {}, { network });
      return key;
    };
    const own = await begin('own');
    const fill = `insert into auth.pending_requests (id_hash, kind, browser_hash, content, network, expires_at)
      select sha256(n::text::bytea), 'authorization', sha256('x'), '{}', 'strangers', now() + interval '1 hour' from generate_series(1, ${AUTH_LIMITS.pendingRequestsMax}) n`;
    await rows(store.knex, fill);
    const last = await begin('strangers');
    assert.ok((await countOf('auth.pending_requests')) <= AUTH_LIMITS.pendingRequestsMax);
    for (const key of [own, last]) assert.ok(await pending.find(key));
  });
});
