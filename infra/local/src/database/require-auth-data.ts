import { UserError } from '../user-error.ts';
import { connectTo } from './connect.ts';
import type { Database } from './provision.ts';

const OTHER_OPTIONS = `There are workspaces, but the database of auth has no people: it is not the one in which their owners are.
Start with the options of before: --cells 2 or --auth-database (or AUTH_DATABASE_URL) where auth had a database of its own, otherwise without them.`;

/**
 * Refuses workspaces without people in the database of auth: each person would get another id at their next sign-in, and no one could open
 * their workspace any more. Auth stores each person before their first workspace.
 */
export async function requireAuthData({ urlOf }: Pick<Database, 'urlOf'>, hint: string): Promise<void> {
  if (await isEmpty(urlOf('wts_sync'), 'sync.workspaces')) return;
  if (await isEmpty(urlOf('wts_auth'), 'auth.identities')) throw new UserError(`${OTHER_OPTIONS}\n${hint}`);
}

async function isEmpty(url: string, table: string): Promise<boolean> {
  await using client = await connectTo(url);
  return (await client.query(`select from ${table} limit 1`)).rowCount === 0;
}
