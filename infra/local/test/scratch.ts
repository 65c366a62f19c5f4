import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL } from '../src/layout.ts';
import { removeAtExit } from '../src/processes/guard.ts';

const base = join(LOCAL, `test-local-${process.pid}`);
let count = 0;

rmSync(base, { recursive: true, force: true });
mkdirSync(base, { recursive: true });
removeAtExit(base);

/** Creates a directory that is removed when this process ends. */
export function scratch(): string {
  count += 1;
  const directory = join(base, String(count));
  mkdirSync(directory);
  return directory;
}
