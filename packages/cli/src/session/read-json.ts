import { constants, open } from 'node:fs/promises';
import { CliFault, fileFault } from '../fault.ts';

/** Settings are short. A device or a log that stands in their place is not read to its end. */
const BYTES_MAX = 65_536;

/** The content of a file of settings; null when there is none. */
export async function readJson<T>(path: string): Promise<T | null> {
  let text: string;
  try {
    text = await readShort(path);
  } catch (cause) {
    if (cause instanceof CliFault) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw fileFault(path, 'read', cause);
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const hint = 'It is not whole or not JSON. Correct it, or delete it.';
    throw new CliFault('failed', `${path} cannot be read.`, { hint, cause });
  }
}

async function readShort(path: string): Promise<string> {
  // Otherwise the open of a named pipe returns only when a writer opens it too, and Node does not end before.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new CliFault('failed', `${path} cannot be read: it is no regular file.`);
  if (stats.size > BYTES_MAX)
    throw new CliFault('failed', `${path} cannot be read: it has more than ${BYTES_MAX} bytes.`);
  return await file.readFile('utf8');
}
