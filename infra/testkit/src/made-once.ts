import { identityOf, isAlive } from '@wts/local';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { eventually } from './eventually.ts';

type Identity = NonNullable<ReturnType<typeof identityOf>>;

const WAIT_MS = 200_000;

/**
 * Makes a folder that all processes use. Several may ask at the same time: one makes it, and the others wait. `make` gets an empty
 * folder on the same disk and resolves to it or to one below, which is complete and is then renamed to `directory`.
 */
export async function madeOnce(directory: string, make: (work: string) => Promise<string>): Promise<void> {
  const [lock, work] = [`${directory}.lock`, `${directory}.work`];
  const isThere = (): boolean => existsSync(directory);
  mkdirSync(dirname(directory), { recursive: true });
  while (!isThere()) {
    if (isAcquired(lock)) {
      try {
        // Another maker may have been killed.
        rmSync(work, { recursive: true, force: true });
        mkdirSync(work, { mode: 0o700 });
        if (!isThere()) renameSync(await make(work), directory);
      } finally {
        rmSync(work, { recursive: true, force: true });
        rmSync(lock, { force: true });
      }
    } else {
      await eventually(() => isThere() || !isHeld(lock), { deadlineMs: WAIT_MS, everyMs: 50 });
      if (!isThere()) rmSync(lock, { force: true });
    }
  }
}

function isAcquired(lock: string): boolean {
  try {
    writeFileSync(lock, JSON.stringify(identityOf(process.pid)), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** False when its process has ended. A lock that is being written counts as held. */
function isHeld(lock: string): boolean {
  try {
    const text = readFileSync(lock, 'utf8');
    return text === '' || isAlive(JSON.parse(text) as Identity);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
