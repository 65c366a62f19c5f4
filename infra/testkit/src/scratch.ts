import { openTestFolder } from '@wts/local';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

let root: string | null = null;
let counter = 0;

/** Creates a directory for data, logs and records. It is removed when this process or `npm test` ends, also when it is killed. */
export function scratch(label: string): string {
  counter += 1;
  const directory = join(scratchRoot(), `${counter}-${label.replaceAll(/[^a-z0-9-]/gi, '_')}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** `npm test` removes the directories of all its processes at its end, because removing files makes new ones slow on ext4. */
export function scratchRoot(): string {
  const ofRun = process.env['TEST_SCRATCH'];
  root ??= ofRun === undefined ? openTestFolder() : mkdtempSync(join(ofRun, `${process.pid}-`));
  return root;
}
