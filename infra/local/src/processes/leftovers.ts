import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './identity.ts';
import type { ProcessRecord } from './launch.ts';

const ASKED_MS = 8_000;
const KILLED_MS = 2_000;

/** Ends what a killed launcher left running, as recorded in its PATHS. Returns the names of what was ended. */
export async function endLeftovers(records: string): Promise<string[]> {
  const left = readRecords(records).filter((record) => isAlive(record));
  // SIGINT is the fast stop of PostgreSQL and an ordinary stop for everything else; a paused process must wake to see it.
  for (const record of left) {
    sendSignal(record.pid, 'SIGINT');
    sendSignal(record.pid, 'SIGCONT');
  }
  await untilGone(left, ASKED_MS);
  for (const record of left) if (isAlive(record)) sendSignal(record.pid, 'SIGKILL');
  await untilGone(left, KILLED_MS);
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
      // Half-written by a launcher that was killed at that moment; its reaper has the pid.
      return [];
    }
  });
}

async function untilGone(records: readonly ProcessRecord[], deadlineMs: number): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (records.some((record) => isAlive(record)) && Date.now() < deadline) await sleep(25);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in the meantime, or not ours to end: the deadline decides.
  }
}
