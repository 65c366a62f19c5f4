import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo } from '../database/connect.ts';
import type { Unprivileged } from './unprivileged.ts';

const CONNECT_MS = 10_000;
/** Files of the process, not of the data. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts']);

/**
 * Copies the data of a running server into `data`, so that a server started there is a streaming standby of it. It does what
 * pg_basebackup does, which the npm package lacks (PostgreSQL manual, "Making a Base Backup Using the Low Level API"). The URL
 * is that of the superuser. `from` is the data directory as this process sees it, when the server sees it elsewhere.
 */
export async function copyServer(
  url: string,
  data: string,
  user: Pick<Unprivileged, 'own'>,
  from?: string,
): Promise<void> {
  const fresh = `${data}.new`;
  rmSync(fresh, { recursive: true, force: true });
  await using primary = await connectTo(url, { connectionTimeoutMillis: CONNECT_MS });
  try {
    const { rows } = await primary.query<{ from: string }>(`select current_setting('data_directory') as from`);
    await primary.query(`select pg_backup_start('standby', true)`);
    copyTree(from ?? rows[0]?.from ?? '', fresh, user);
    // The backup must be stopped in the session that started it.
    const backup = await primary.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    write(join(fresh, 'backup_label'), backup.rows[0]?.labelfile ?? '', user);
    write(join(fresh, 'standby.signal'), '', user);
    write(join(fresh, 'postgresql.auto.conf'), settingsOf(url), user);
    renameSync(fresh, data);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function settingsOf(url: string): string {
  const { hostname, port, username, password } = new URL(url);
  const address = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  // The standby reconnects after 100 ms instead of five seconds.
  return `primary_conninfo = '${address}'\nwal_retrieve_retry_interval = '100ms'\n`;
}

/** When a server runs during the copy, replay does not need a file that disappears meanwhile. */
export function copyTree(from: string, to: string, user: Pick<Unprivileged, 'own'>): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
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

function write(file: string, text: string, user: Pick<Unprivileged, 'own'>): void {
  writeFileSync(file, text);
  chmodSync(file, 0o600);
  user.own(file);
}
