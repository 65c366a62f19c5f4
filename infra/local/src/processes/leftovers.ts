import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './identity.ts';
import type { ProcessRecord } from './launch.ts';

const STOP_MS = 8_000;
const KILL_MS = 2_000;

/** Ends the processes that a killed launcher left running, by its records. Resolves to their names. */
export async function endLeftovers(records: string): Promise<string[]> {
  const left = readRecords(records).filter((record) => isAlive(record));
  // SIGINT is the fast stop of PostgreSQL and a normal stop for everything else. A paused process needs SIGCONT to handle it.
  for (const record of left) {
    sendSignal(record.pid, 'SIGINT');
    sendSignal(record.pid, 'SIGCONT');
  }
  await untilExited(left, STOP_MS);
  for (const record of left) if (isAlive(record)) sendSignal(record.pid, 'SIGKILL');
  await untilExited(left, KILL_MS);
  rmSync(records, { recursive: true, force: true });
  return left.map((record) => record.name);
}

function readRecords(directory: string): ProcessRecord[] {
  let files: string[];
  try {
    files = readdirSync(directory);
  } catch {
    return [];
  }
  return files.flatMap((file) => {
    try {
      const record = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Partial<ProcessRecord>;
      return typeof record.pid === 'number' && typeof record.startMark === 'string' ? [record as ProcessRecord] : [];
    } catch {
      // The launcher was killed while it wrote the record; its reaper ends that process.
      return [];
    }
  });
}

async function untilExited(records: readonly ProcessRecord[], deadlineMs: number): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (records.some((record) => isAlive(record)) && Date.now() < deadline) await sleep(25);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited, or this user may not signal it; then the deadline ends the wait.
  }
}
