import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliFault, fileFault } from '../fault.ts';
import type { Io } from '../io.ts';
import { readJson } from './read-json.ts';

/**
 * `.wts` of a folder or of one above it. It has no address of a server: a file that comes with a cloned repository must not decide
 * where a credential is sent.
 */
export interface ProjectFile {
  readonly path: string;
  readonly workspace?: string;
  readonly profile?: string;
}

const KEYS = ['workspace', 'profile'] as const;

export async function findProjectFile({ cwd }: Pick<Io, 'cwd'>): Promise<ProjectFile | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, '.wts');
    const content = await readJson<Readonly<Record<string, unknown>>>(path);
    if (content !== null) return { ...read(content, path), path };
    if (folder === dirname(folder)) return null;
  }
}

/** Changes the file of this folder, not one above it; a value that is undefined is taken out. Returns its path. */
export async function writeProjectFile(
  { cwd }: Pick<Io, 'cwd'>,
  changes: Readonly<Partial<Record<(typeof KEYS)[number], string | undefined>>>,
): Promise<string> {
  const path = join(cwd, '.wts');
  const content = { ...(await readJson<Readonly<Record<string, unknown>>>(path)), ...changes };
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`).catch((cause: unknown) => {
    throw fileFault(path, 'written', cause);
  });
  return path;
}

function read(content: Readonly<Record<string, unknown>>, path: string): Omit<ProjectFile, 'path'> {
  for (const [name, value] of Object.entries(content)) {
    if (KEYS.some((key) => key === name) && typeof value === 'string') continue;
    const hint = `It may have ${KEYS.join(' and ')}, both texts: {"workspace": "acme"}`;
    throw new CliFault('failed', `${path} has ${JSON.stringify(name)}, which it may not have.`, { hint });
  }
  return content;
}
