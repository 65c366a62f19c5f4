import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a process, also when a later process gets the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startMark: string;
}

/** Null when there is no such process (a zombie counts as none). */
export function identityOf(pid: number): ProcessIdentity | null {
  const startMark = process.platform === 'linux' ? linuxStartMark(pid) : psStartMark(pid);
  return startMark === null ? null : { pid, startMark };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startMark === identity.startMark;
}

/** The mark includes the boot id, because pids and start ticks repeat after a restart of the machine. */
function linuxStartMark(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses, which may contain blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${fields[19]}`;
  } catch {
    return null;
  }
}

function psStartMark(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, state, start] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    return start === undefined || state?.startsWith('Z') ? null : start;
  } catch {
    return null;
  }
}
