import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Not by `recursive` of Node, which never returns where the system makes no folder in one that exists,
 * as in `/proc`.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  for (const folder of [...foldersAbove(path), path]) {
    await mkdir(folder, { mode }).catch(async (error: unknown) => {
      if (!(await stat(folder).catch(() => null))?.isDirectory()) throw error;
    });
  }
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...foldersAbove(parent), parent];
}
