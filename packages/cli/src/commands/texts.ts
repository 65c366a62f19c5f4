import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { CliFault } from '../fault.ts';
import type { Io } from '../io.ts';

/** A text as it was given: `-` reads it from stdin, `@file` from a file, `@@…` begins with an @. */
export async function readText(given: string, io: Io): Promise<string>;
export async function readText(given: string | undefined, io: Io): Promise<string | undefined>;
export async function readText(given: string | undefined, io: Io): Promise<string | undefined> {
  if (given === '-') return (await text(io.stdin)).replace(/\n$/, '');
  if (given?.startsWith('@@')) return given.slice(1);
  if (given?.startsWith('@') !== true) return given;
  const path = given.slice(1);
  try {
    return (await readFile(resolve(io.cwd, path), 'utf8')).replace(/\n$/, '');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CliFault('failed', `${path} cannot be read (${code}).`, { cause });
  }
}
