import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore } from '../../test/store.ts';
import { clientStore } from './clients.ts';

describe('the store of clients', () => {
  it('R6: deletes a client that got no token within a day, and one that got none for long', async () => {
    await using store = await openTestStore('clients');
    const { knex } = store;
    const clients = clientStore(knex);
    const made = async (created: string, used: string | null, hasGrant = false): Promise<string> => {
      const id = randomUUID();
      const values = { secretHash: null, name: null, redirectUris: ['https://a.example'], applicationType: null };
      await clients.insert({ id, ...values, authMethod: 'none', grantTypes: ['authorization_code'] });
      const sql = `update auth.clients set created_at = now() - cast(:created as interval),
        used_at = now() - cast(:used as interval) where id = :id`;
      await rows(knex, sql, { id, created, used });
      const grant = `insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at)
        values (gen_random_uuid(), gen_random_uuid(), :id, '{}', '{}', now(), now())`;
      if (hasGrant) await rows(knex, grant, { id });
      return id;
    };
    const kept = [
      await made('23 hours', null),
      await made('25 hours', null, true),
      await made('200 days', '179 days'),
      await made('200 days', '181 days', true),
    ];
    const deleted = [await made('25 hours', null), await made('200 days', '181 days')];
    assert.equal(await clients.deleteUnused(), deleted.length);
    for (const id of kept) assert.ok(await clients.find(id));
    for (const id of deleted) assert.equal(await clients.find(id), null);
  });
});
