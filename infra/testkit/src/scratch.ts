import { LOCAL, UserError, identityOf, isAlive, removeAtExit } from '@wts/local';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Identity = NonNullable<ReturnType<typeof identityOf>>;

const PREFIX = 'test-';
let root: string | null = null;
let counter = 0;

/** Creates a directory for data, logs and records. It is removed when this process or `npm test` ends, also when it is killed. */
export function scratch(label: string): string {
  root ??= createRoot();
  counter += 1;
  const directory = join(root, `${counter}-${label.replaceAll(/[^a-z0-9-]/gi, '_')}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function createRoot(): string {
  const own = identityOf(process.pid);
  if (own === null)
    throw new UserError('Tests need /proc or ps to read the start time of a process, and this system has neither.');
  removeLeftovers();
  // `npm test` removes the directories of all its processes at its end, because removing files makes new ones slow on ext4.
  const ofRun = process.env['TEST_SCRATCH'];
  const directory = join(ofRun ?? LOCAL, `${PREFIX}${process.pid}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'owner.json'), JSON.stringify(own));
  if (ofRun === undefined) removeAtExit(directory);
  return directory;
}

/** Removes the directories of processes that were killed together with their reaper. */
function removeLeftovers(): void {
  for (const name of list(LOCAL).filter((entry) => entry.startsWith(PREFIX))) {
    const directory = join(LOCAL, name);
    const owner = ownerOf(directory);
    if (owner !== null && !isAlive(owner)) rmSync(directory, { recursive: true, force: true });
  }
}

function ownerOf(directory: string): Identity | null {
  try {
    return JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8')) as Identity;
  } catch {
    return null;
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
