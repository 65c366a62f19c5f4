import { readFile } from 'node:fs/promises';
import { CliFault } from '../fault.ts';

/** The content of a file; null when there is none. */
export async function readJson<T>(path: string): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new CliFault('failed', `${path} cannot be read (${code ?? 'unknown'}).`, { cause });
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const hint = 'It is not whole or not JSON. Correct it, or delete it.';
    throw new CliFault('failed', `${path} cannot be read.`, { hint, cause });
  }
}
