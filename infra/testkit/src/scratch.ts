import { LOCAL, Refusal, identityOf, isAlive, removeAtExit } from '@wts/local';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Identity = NonNullable<ReturnType<typeof identityOf>>;

const PREFIX = 'test-';
let made: string | null = null;
let counter = 0;

/** A directory of this process for data, logs and records. It is removed when the process is gone, however it went. */
export function scratch(label: string): string {
  made ??= makeScratch();
  counter += 1;
  const directory = join(made, `${counter}-${label.replaceAll(/[^a-z0-9-]/gi, '_')}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function makeScratch(): string {
  const own = identityOf(process.pid);
  if (own === null) throw new Refusal('This system does not tell when a process began; tests need /proc or ps.');
  sweep();
  const directory = join(LOCAL, `${PREFIX}${process.pid}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'owner.json'), JSON.stringify(own));
  removeAtExit(directory);
  return directory;
}

/** What remains of processes that were killed together with their reaper. */
function sweep(): void {
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
