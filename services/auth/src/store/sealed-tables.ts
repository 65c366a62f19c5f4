import type { Logger } from '@wts/service-kit/observe';
import { reseal, type SealedTable, type SecretKeys } from '@wts/service-kit/sealing';
import type { Pool } from 'pg';

const id = 'id';
const name = 'id';
const keyId = 'sealed_with';

/** All that AUTH_SECRET_KEY encrypts, under the names that it is sealed with. */
const TABLES: readonly SealedTable[] = [
  { table: 'auth.signing_keys', id, name, sealed: 'private_key', keyId },
  { table: 'auth.totp', id: 'account_id', name: `'totp ' || account_id`, sealed: 'secret', keyId },
  { table: 'auth.mail_links', id, name, sealed: 'content', keyId },
  { table: 'auth.mails', id, name, sealed: 'content', keyId },
];

export async function resealAll(pool: Pool, keys: SecretKeys, log: Logger): Promise<void> {
  for (const table of TABLES) {
    const changed = await reseal(pool, table, keys);
    if (changed > 0)
      log.info({ table: table.table, changed }, 'secrets are sealed with the first key of AUTH_SECRET_KEY');
  }
}
