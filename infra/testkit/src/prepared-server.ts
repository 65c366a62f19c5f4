/**
 * The data of a stopped PostgreSQL server that has the templates of databases. Servers of tests start with a copy, because initdb,
 * the migrations and the seeds take ten times as long. It stays in `.local`, for each state of these.
 */
import { LOCAL, connectTo, copyTree, templatesHash, type PostgresServer } from '@wts/local';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { madeOnce } from './made-once.ts';

export interface PreparedServer {
  readonly data: string;
  readonly password: string;
}

const INFIX = '-of-tests-';
const OLD_MS = 3_600_000;

export async function preparedServer(version: string, open: () => Promise<PostgresServer>): Promise<PreparedServer> {
  const directory = join(LOCAL, `postgres-${version}${INFIX}${templatesHash()}`);
  await madeOnce(directory, async (made) => {
    removeOld(directory);
    await make(made, open);
    return made;
  });
  return { data: join(directory, 'data'), password: readFileSync(join(directory, 'password'), 'utf8') };
}

/** Removes the data for earlier states, unless it is so young that another process may be copying it. */
function removeOld(directory: string): void {
  for (const name of readdirSync(LOCAL).filter((one) => one.includes(INFIX))) {
    const other = join(LOCAL, name);
    const isOld = Date.now() - statSync(other).mtimeMs > OLD_MS;
    if (other !== directory && isOld) rmSync(other, { recursive: true, force: true });
  }
}

async function make(made: string, open: () => Promise<PostgresServer>): Promise<void> {
  await using server = await open();
  const admin = await connectTo(server.url());
  const { rows } = await admin.query<{ data: string }>(`SELECT current_setting('data_directory') AS data`);
  await admin.end();
  await server.stop();
  copyTree(rows[0]?.data ?? '', join(made, 'data'), { own: () => {} });
  writeFileSync(join(made, 'password'), decodeURIComponent(new URL(server.url()).password), { mode: 0o600 });
}
