import { chmod, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliFault } from '../fault.ts';
import { makeFolder } from '../make-folder.ts';

/**
 * Writes a file that only its owner may read, as a whole or not at all: a process that ends in the middle leaves the file as it was.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const part = `${path}.${process.pid}.part`;
  try {
    await makeFolder(folder, 0o700);
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined);
    throw new CliFault('failed', `${path} cannot be written (${codeOf(cause)}).`, { cause });
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
    if (codeOf(cause) === 'ENOENT') return null;
    throw new CliFault('failed', `${path} cannot be read (${codeOf(cause)}).`, { cause });
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
