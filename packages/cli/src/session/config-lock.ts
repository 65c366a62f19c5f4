import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CliFault, fileFault } from '../fault.ts';
import { makeFolder } from '../make-folder.ts';
import type { Io } from '../io.ts';
import { configFile } from './config-file.ts';

/** Longer than a person needs to unlock a keyring. */
const WAIT_MS = 60_000;
const PAUSE_MS = 20;

/**
 * Runs work that reads and then writes the settings while no other process does, because the later of two writes would otherwise undo
 * the earlier. The lock is a file with the id of its process, so that one that was killed keeps no other one out. Keeps cli.settings.kept.
 */
export async function withConfigLock<T>(io: Pick<Io, 'env' | 'platform'>, work: () => Promise<T>): Promise<T> {
  const path = `${configFile(io)}.lock`;
  const endMs = performance.now() + WAIT_MS;
  while (!(await isCreated(path))) {
    if (await isLeft(path)) await rm(path, { force: true });
    else if (performance.now() < endMs) await pause(PAUSE_MS);
    else
      throw new CliFault('failed', 'Another wts is changing the settings.', {
        hint: `If none is running, delete ${path}`,
      });
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function isCreated(path: string): Promise<boolean> {
  try {
    await makeFolder(dirname(path), 0o700);
    await writeFile(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fileFault(path, 'written', cause);
  }
}

/** Whether its process is gone. A file without an id was created a moment ago. */
async function isLeft(path: string): Promise<boolean> {
  const id = Number(await readFile(path, 'utf8').catch(() => ''));
  if (!Number.isInteger(id) || id <= 0) return false;
  try {
    return !process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
