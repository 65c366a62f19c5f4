import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileFault } from '../fault.ts';
import { makeFolder } from '../make-folder.ts';

/**
 * Writes a file that only its owner may read, as a whole or not at all: a process that ends in the middle leaves the file as it was.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    await makeFolder(dirname(path), 0o700);
    await writeFile(part, text, { mode: 0o600, flush: true });
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined);
    throw fileFault(path, 'written', cause);
  }
}

/** The same for a secret: its folder is closed to others too. */
export async function writeSecret(path: string, text: string): Promise<void> {
  await writePrivate(path, text);
  await chmod(dirname(path), 0o700);
}

/** The permissions of a file; null when there is none, or where the platform has none. */
export async function modeOf(path: string, platform: NodeJS.Platform): Promise<number | null> {
  if (platform === 'win32') return null;
  try {
    return (await stat(path)).mode & 0o777;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileFault(path, 'read', cause);
  }
}
