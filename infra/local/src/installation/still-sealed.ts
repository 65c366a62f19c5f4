import { createHash } from 'node:crypto';
import { connectTo } from '../database/connect.ts';
import { secretKey } from '../services.ts';
import { textOf, UserError } from '../user-error.ts';
import type { SecretValues } from './secrets-file.ts';

/** A setting with keys that encrypt rows, and where each row has the id of its key. */
interface SealedBy {
  readonly service: string;
  readonly tables: readonly string[];
  readonly keyId: string;
}

export const SEALED_BY: Readonly<Record<string, SealedBy>> = {
  WEBHOOK_SECRET_KEY: { service: 'webhook-dispatcher', tables: ['webhooks.secrets'], keyId: 'key_id' },
  AUTH_SECRET_KEY: {
    service: 'auth',
    tables: ['auth.signing_keys', 'auth.totp', 'auth.mail_links', 'auth.mails'],
    keyId: 'sealed_with',
  },
};

const CONNECT_MS = 5_000;

/**
 * Throws unless the database says that nothing is sealed with another key than the first one of the setting: without its key a row cannot be
 * read any more. Keeps secrets.drop.
 */
export async function refuseWhileSealed(values: SecretValues, setting: string, database?: string): Promise<void> {
  const sealedBy = SEALED_BY[setting];
  if (sealedBy === undefined) return;
  const sql = statementOf(sealedBy, idsOf(values[setting]?.split(',')[0] ?? ''));
  const url = database ?? values[secretKey(sealedBy.service, 'DATABASE_URL')];
  const rows = await ask(url, sql).catch((error: unknown) => {
    throw new UserError(
      `Whether the old key is still needed says the database, which was not asked: ${textOf(error)}. Give its address by --database, ` +
        `or ask it yourself:\n\n${sql};\n\nWhere that finds no row, drop with --now.`,
    );
  });
  if (rows.length === 0) return;
  const found = rows.map(({ table, count }) => `${count} rows of ${table}`).join(', ');
  throw new UserError(
    `The old key is still needed: ${found} are sealed with another key than the first of ${setting}, and would be lost. ` +
      `${sealedBy.service} seals them again within minutes after all its replicas were restarted with the file of "use"; ` +
      'its log names those that it cannot read. With --now the key is dropped at once, and they are lost.',
  );
}

function statementOf({ tables, keyId }: SealedBy, ids: readonly string[]): string {
  const list = ids.map((id) => `'${id}'`).join(', ');
  return tables
    .map(
      (table) =>
        `select '${table}' as table, count(*) from ${table} where ${keyId} not in (${list}) having count(*) > 0`,
    )
    .join('\nunion all ');
}

/** The name of a key, and its fingerprint: that of `parseSecretKeys`. */
export function idsOf(text: string): string[] {
  const [encoded = '', name] = text.trim().split(':').toReversed();
  const hash = createHash('sha256').update('wts webhook secret key').update(Buffer.from(encoded, 'base64'));
  return [hash.digest('hex').slice(0, 16), ...(name === undefined ? [] : [name])];
}

async function ask(
  url: string | undefined,
  sql: string,
): Promise<{ readonly table: string; readonly count: string }[]> {
  if (url === undefined) throw new Error('the file has no address of it');
  await using client = await connectTo(url, { connectionTimeoutMillis: CONNECT_MS, query_timeout: 60_000 });
  return (await client.query<{ table: string; count: string }>(sql)).rows;
}
