import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identityOf, isAlive } from './identity.ts';
import type { ProcessIdentity } from './identity.ts';

/**
 * Takes the world for this process, or names the living process that has it. A dead owner's lock is taken over.
 * The lock appears complete or not at all (a link to a finished file), because a reader that met half of it would
 * think its owner dead.
 */
export function takeWorld(file: string): { readonly owner: ProcessIdentity } | { readonly release: () => void } {
  mkdirSync(dirname(file), { recursive: true });
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identityOf(process.pid)), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(own, file);
        return { release: () => rmSync(file, { force: true }) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const owner = readOwner(file);
      if (owner !== null && isAlive(owner)) return { owner };
      removeDead(file, `${own}.dead`);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Two starts may both find the same dead owner: only a lock that is still dead when moved away is removed. */
function removeDead(file: string, aside: string): void {
  try {
    renameSync(file, aside);
    const moved = readOwner(aside);
    if (moved !== null && isAlive(moved)) linkSync(aside, file);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function readOwner(file: string): ProcessIdentity | null {
  try {
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Partial<ProcessIdentity> | null;
    return typeof owner?.pid === 'number' && typeof owner.startMark === 'string' ? (owner as ProcessIdentity) : null;
  } catch {
    return null;
  }
}
