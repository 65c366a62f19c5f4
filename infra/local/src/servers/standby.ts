import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Unprivileged } from './unprivileged.ts';

const CONNECT_MS = 10_000;
/** What belongs to the process and not to the data. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts']);

/**
 * Fills `data` with what a running server holds, such that a server started there follows it: a streaming standby. Does by
 * hand what pg_basebackup does, which the npm package lacks (PostgreSQL manual, "Making a Base Backup Using the Low Level
 * API"). The URL is that of the superuser.
 */
export async function copyServer(url: string, data: string, user: Unprivileged): Promise<void> {
  const fresh = `${data}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const primary = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  primary.on('error', () => {});
  await primary.connect();
  try {
    const { rows } = await primary.query<{ from: string }>(`select current_setting('data_directory') as from`);
    await primary.query(`select pg_backup_start('standby', true)`);
    copyTree(rows[0]?.from ?? '', fresh, user);
    // In the session that began: it ends the backup when it goes.
    const backup = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    write(join(fresh, 'backup_label'), backup.rows[0]?.labelfile ?? '', user);
    write(join(fresh, 'standby.signal'), '', user);
    write(join(fresh, 'postgresql.auto.conf'), settingsOf(url), user);
    renameSync(fresh, data);
  } finally {
    await primary.end();
    rmSync(fresh, { recursive: true, force: true });
  }
}

function settingsOf(url: string): string {
  const { hostname, port, username, password } = new URL(url);
  const whereabouts = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  // A primary that comes back is followed again at once, not in five seconds.
  return `primary_conninfo = '${whereabouts}'\nwal_retrieve_retry_interval = '100ms'\n`;
}

/** The server goes on meanwhile: a file that vanishes is one that replay does not need. */
function copyTree(from: string, to: string, user: Unprivileged): void {
  mkdirSync(to, { mode: 0o700 });
  user.own(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      copyTree(source, target, user);
      continue;
    }
    try {
      copyFileSync(source, target);
      user.own(target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function write(file: string, text: string, user: Unprivileged): void {
  writeFileSync(file, text);
  chmodSync(file, 0o600);
  user.own(file);
}
