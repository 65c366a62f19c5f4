import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import { openTestStore } from '../../test/store.ts';
import { ACCOUNT_ISSUER, accountStore } from './accounts.ts';
import { cellStore } from './cells.ts';
import { secondFactorStore } from './second-factors.ts';
import { workspacePolicyStore } from './workspace-policies.ts';

describe('a second factor that a workspace requires, while its cell does not answer auth', () => {
  it('refuses that cell the credentials of who has none, and not the other cells; the last factor cannot be removed [authentication.factors.away]', async () => {
    await using store = await openTestStore('factors-away');
    const { knex } = store;
    const [userId, accountId, workspaceId] = [randomUUID(), randomUUID(), randomUUID()];
    const email = `${accountId}@example.com`;
    const account = { id: accountId, passwordHash: 'x', email, comparableEmail: email, name: 'Ada' };
    await accountStore(knex).insert({ ...account, emailVerified: true });
    const sql = `insert into auth.identities (identity_hash, issuer, subject, user_id)
      values (sha256(convert_to(:accountId, 'UTF8')), :issuer, :accountId, :userId)`;
    await rows(knex, sql, { issuer: ACCOUNT_ISSUER, accountId, userId });
    await cellStore(knex).add([{ workspaceId, urlKey: 'w', shard: 1 }]);
    const factors = secondFactorStore(knex, { workspacesOf: async () => ({ ids: [], away: [1, 2] }) });
    assert.equal(await factors.isMissing(userId, 1), false);
    await workspacePolicyStore(knex).change(workspaceId, { requiresSecondFactor: true, by: userId });
    await assert.rejects(factors.isMissing(userId, 1), { code: 'unavailable' });
    assert.deepEqual([await factors.isMissing(userId, 0), await factors.isMissing(userId, 2)], [false, false]);
    assert.equal(await factors.isRequired(userId), false);
    await assert.rejects(factors.isRequired(userId, 'surely'), { code: 'unavailable' });
    await factors.setTotp(accountId, { sealed: Buffer.alloc(32), keyId: 'k' }, 1);
    assert.equal(await factors.isMissing(userId, 1), false);
  });
});
