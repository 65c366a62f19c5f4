import { natsUsersConfiguration, natsUsersTable } from '@wts/contracts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './layout.ts';
import { settingsReference } from './settings-reference.ts';

const NATS_GUIDE = 'infra/nats/README.md';
const TABLE = /^\| user \|.*?(?=\n\n)/ms;

/** The files that `npm run settings` writes, by their path in the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const guide = await readFile(join(ROOT, NATS_GUIDE), 'utf8');
  if (!TABLE.test(guide)) throw new Error(`${NATS_GUIDE} has no place for the table of users: ${TABLE}`);
  return new Map([
    ['infra/settings.md', await settingsReference()],
    ['infra/nats/users.conf', natsUsersConfiguration()],
    [NATS_GUIDE, guide.replace(TABLE, natsUsersTable)],
  ]);
}
