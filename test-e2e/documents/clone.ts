import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** State of the working copy, which a clone has of its own, or of its tools. */
const LEFT_OUT = new Set(['.git', '.local', '.turbo', 'node_modules']);

/**
 * Copies the files of the repository to a new folder, where `npm start` has data, keys and logs of its own. Both share the
 * installed packages of others and what Node compiled; the links between their own packages are relative, so each uses its own
 * sources.
 */
export function cloneInto(folder: string, root: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!LEFT_OUT.has(name)) cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const compiled = '.local/compile-cache';
  mkdirSync(join(root, compiled), { recursive: true });
  mkdirSync(join(folder, '.local'));
  symlinkSync(join(root, compiled), join(folder, compiled));
}
