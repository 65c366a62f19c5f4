import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileFault } from '../fault.ts';
import type { Io } from '../io.ts';

/** A text as it was given: `-` reads it from stdin, `@file` from a file, `@@…` begins with an @. */
export async function readText(given: string, io: Io): Promise<string>;
export async function readText(given: string | undefined, io: Io): Promise<string | undefined>;
export async function readText(given: string | undefined, io: Io): Promise<string | undefined> {
  if (given === '-') return (await text(io.stdin)).replace(/\n$/, '');
  if (given?.startsWith('@@')) return given.slice(1);
  if (given?.startsWith('@') !== true) return given;
  const path = given.slice(1);
  return (await readTextFile(resolve(io.cwd, path), path)).replace(/\n$/, '');
}

/** `shown` is the path as the person gave it. */
export function readTextFile(path: string, shown = path): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw fileFault(shown, 'read', cause);
  });
}
