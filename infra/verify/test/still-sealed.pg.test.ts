import { idsOf, refuseWhileSealed, SEALED_BY } from '@wts/local';
import { parseSecretKeys, sealSecret } from '@wts/service-kit/sealing';
import { testDatabase, connectTo } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';

const newKey = (): string => randomBytes(32).toString('base64');

describe('dropping a key that encrypts rows', () => {
  it('is refused with their number while one is sealed with another key, and when the database does not answer [secrets.drop]', async () => {
    await using database = await testDatabase('still_sealed', { migrated: true });
    const [next, old] = [newKey(), newKey()];
    const values = { AUTH_SECRET_KEY: `${next},${old}`, AUTH_DATABASE_URL: database.urlOf('wts_auth') };
    await using client = await connectTo(database.authUrl);
    const seal = async (keys: string): Promise<void> => {
      const { sealed, keyId } = sealSecret(parseSecretKeys(keys), 'a', randomBytes(8));
      await client.query(
        `insert into auth.mails (id, kind, recipient, content, sealed_with, ends_at) values ($1, 'a', 'a', $2, $3, now())`,
        [randomUUID(), sealed, keyId],
      );
    };
    await seal(next);
    await refuseWhileSealed(values, 'AUTH_SECRET_KEY');
    await seal(old);
    await assert.rejects(refuseWhileSealed(values, 'AUTH_SECRET_KEY'), /1 rows of auth\.mails are sealed with another/);
    const elsewhere = refuseWhileSealed(values, 'AUTH_SECRET_KEY', 'postgres://127.0.0.1:1/none');
    await assert.rejects(elsewhere, /was not asked: .*\n\nselect 'auth\.signing_keys'/s);
    await client.query('delete from auth.mails');
    await refuseWhileSealed(values, 'AUTH_SECRET_KEY');
  });

  it('looks at every table with a column for the key, and knows keys by the ids of their rows [secrets.drop]', async () => {
    await using database = await testDatabase('still_sealed', { migrated: true });
    const found: string[] = [];
    for (const url of new Set([database.url, database.authUrl])) {
      await using client = await connectTo(url);
      const { rows } = await client.query<{ name: string }>(
        `select table_schema || '.' || table_name as name from information_schema.columns where column_name in ('sealed_with', 'key_id') and data_type = 'text'`,
      );
      found.push(...rows.map(({ name }) => name));
    }
    assert.deepEqual(
      Object.values(SEALED_BY)
        .flatMap(({ tables }) => tables)
        .toSorted(),
      found.toSorted(),
    );
    for (const key of [newKey(), `spring:${newKey()}`])
      assert.deepEqual(idsOf(key).toSorted(), [...parseSecretKeys(key).byId.keys()].toSorted());
  });
});
