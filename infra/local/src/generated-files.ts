import { referenceText } from '@wts/cli/reference';
import { natsUsersConfiguration, natsUsersTable } from '@wts/contracts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chartFiles } from './chart/index.ts';
import { composeFiles } from './compose/index.ts';
import { ROOT } from './layout.ts';
import { DATABASE_USERS } from './services.ts';
import { settingsReference } from './settings-reference.ts';

const NATS_GUIDE = 'infra/nats/README.md';
const TABLE = /^\| user \|.*?(?=\n\n)/ms;
const ROLES = 'infra/postgres/roles.sql';
const ROLE_ROWS = /(?<=^CREATE TEMP TABLE service_role .* AS VALUES\n).*?;$/ms;

/** The files that `npm run settings` writes, by their path in the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const guide = await readFile(join(ROOT, NATS_GUIDE), 'utf8');
  if (!TABLE.test(guide)) throw new Error(`${NATS_GUIDE} has no place for the table of users: ${TABLE}`);
  return new Map([
    ['infra/settings.md', await settingsReference()],
    ['packages/cli/reference.md', referenceText()],
    ['infra/nats/users.conf', natsUsersConfiguration()],
    [NATS_GUIDE, guide.replace(TABLE, natsUsersTable)],
    ...(await chartFiles()),
    ...composeFiles(),
    [ROLES, (await readFile(join(ROOT, ROLES), 'utf8')).replace(ROLE_ROWS, roleRows)],
  ]);
}

/** The roles as rows of SQL: role, schema, whether it reads schema sync. */
function roleRows(): string {
  const rows = DATABASE_USERS.map(
    ({ role, schema, readsSync }) => `  ('${role}', ${schema === null ? 'NULL' : `'${schema}'`}, ${readsSync})`,
  );
  return `${rows.join(',\n')};`;
}
