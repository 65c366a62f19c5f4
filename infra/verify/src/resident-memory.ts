import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The resident memory of a process in megabytes. One that has ended, such as a worker of PostgreSQL, holds nothing. */
export function residentMbOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
    return Number(stdout.trim()) / 1024;
  }
}
