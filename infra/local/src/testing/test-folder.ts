/** Where tests put data that ends with them. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LOCAL } from '../layout.ts';
import { removeAtExit } from '../processes/guard.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../processes/identity.ts';
import { UserError } from '../user-error.ts';

interface Owner extends ProcessIdentity {
  /** The namespace of that id. */
  readonly processes: string;
}

const PREFIX = 'wts-test-';
/** A file system in memory of every Linux. In a container it may have a few megabytes only. */
const MEMORY = '/dev/shm';
const TMPFS = 0x01_02_19_94;
/** About four times of what a whole run needs at once. */
const MEMORY_BYTES_MIN = 6 * 1024 ** 3;

/**
 * A folder that is removed when this process ends, also when it is killed. It is in memory where that has room: servers of tests write
 * thousands of small files, and ext4 searches past inodes that were deleted a moment ago for each new file, which takes a sixth of
 * the processor time of a run.
 */
export function openTestFolder(): string {
  const own = identityOf(process.pid);
  if (own === null)
    throw new UserError('Tests need /proc or ps to read the start time of a process, and this system has neither.');
  for (const place of [LOCAL, MEMORY]) removeLeftovers(place);
  mkdirSync(LOCAL, { recursive: true });
  const directory = mkdtempSync(join(hasRoom() ? MEMORY : LOCAL, PREFIX));
  writeFileSync(join(directory, 'owner.json'), JSON.stringify({ ...own, processes: ofProcesses() }));
  removeAtExit(directory);
  return directory;
}

export function isInMemory(directory: string): boolean {
  try {
    return statfsSync(directory).type === TMPFS;
  } catch {
    return false;
  }
}

function hasRoom(): boolean {
  if (!isInMemory(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_BYTES_MIN;
}

/** Removes the folders of processes that were killed together with their reaper. */
function removeLeftovers(place: string): void {
  for (const name of list(place).filter((entry) => entry.startsWith(PREFIX))) {
    const directory = join(place, name);
    try {
      const owner = JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8')) as Owner;
      if (owner.processes === ofProcesses() && !isAlive(owner)) rmSync(directory, { recursive: true, force: true });
    } catch {
      // It is of another user, or just being made.
    }
  }
}

/** Containers may share the memory and not the ids of processes: there an owner in another one looks as if it had ended. */
function ofProcesses(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
