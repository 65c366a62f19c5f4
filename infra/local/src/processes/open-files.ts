import { LIMITS } from '@wts/contracts';
import { execFileSync } from 'node:child_process';
import { UserError } from '../user-error.ts';

/** With fewer the gateway, which opens two files for a connection, does not start. */
const FILES_MIN = Math.ceil(LIMITS.filesReserved + LIMITS.connectionsMin * (2 + LIMITS.connectionsRefusedShare));
const FILES_ADVISED = 4096;

/** Throws when child processes may open too few files. */
export function refuseFewFiles(allowed = openFilesOfChildren()): void {
  if (allowed >= FILES_MIN) return;
  const raise = process.platform === 'linux' ? `sudo prlimit --pid $$ --nofile=${FILES_ADVISED}` : 'a new terminal';
  throw new UserError(
    `A program may have only ${allowed} files open here, but ${FILES_MIN} are needed.\n` +
      `Run this in the same terminal and start again: ulimit -n ${FILES_ADVISED}\n` +
      `Where that is not permitted, use: ${raise}`,
  );
}

/** Node has raised its own limit as far as the system allows, and child processes inherit it. */
function openFilesOfChildren(): number {
  const text = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return /^\d+$/.test(text) ? Number(text) : Infinity;
}
