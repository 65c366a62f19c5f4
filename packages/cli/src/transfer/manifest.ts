import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliFault } from '../fault.ts';
import type { WrittenFile } from './line-files.ts';

export const MANIFEST = 'manifest.json';
/** Unfinished files of an export. */
export const PARTIAL = '.partial';

const FORMAT = 'wts-export';
const VERSION = 1;

export interface ExportedFile extends WrittenFile {
  readonly name: string;
  readonly model: string;
  /** How many of the records are archived. */
  readonly archived: number;
}

export interface ExportedPerson {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  /** In the workspace; null for a person who left it. */
  readonly role: string | null;
}

/** What an export is: written last, so a folder without it is no export. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  readonly exportedAt: string;
  readonly exportedBy: string;
  readonly server: string;
  readonly workspace: {
    readonly id: string;
    readonly urlKey: string;
    readonly name: string;
    readonly archivedAt: string | null;
  };
  /** The records are exactly those at this position of the log of this epoch. */
  readonly position: string;
  readonly epoch: string;
  /** In the order of an import: no record refers to one of a later file. */
  readonly files: readonly ExportedFile[];
  /** Everyone whom a record refers to. */
  readonly people: readonly ExportedPerson[];
  /** What the exporting person could not see, in words. */
  readonly notIncluded: readonly string[];
}

export type ManifestFacts = Omit<Manifest, 'format' | 'version'>;

export function manifestText(facts: ManifestFacts): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, ...facts } satisfies Manifest, null, 2)}\n`;
}

export interface ReadManifest {
  readonly manifest: Manifest;
  readonly text: string;
}

/** Throws one sentence when the folder is no complete export that this version can read. */
export async function readManifest(folder: string): Promise<ReadManifest> {
  const text = await manifestIn(folder);
  if (text === null) throw await noManifest(folder);
  let parsed: Partial<Record<keyof Manifest, unknown>> | null;
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch (cause) {
    throw new CliFault('failed', `${join(folder, MANIFEST)} is not whole JSON.`, { hint: AGAIN, cause });
  }
  if (parsed?.format !== FORMAT)
    throw new CliFault('failed', `${join(folder, MANIFEST)} is not the manifest of an export.`);
  if (parsed.version !== VERSION)
    throw new CliFault(
      'failed',
      `The export has format version ${String(parsed.version)}; this version of wts reads ${VERSION}.`,
      { hint: 'Use the version of wts that wrote it, or a newer one.' },
    );
  return { manifest: parsed as unknown as Manifest, text };
}

const AGAIN = 'Run the export again.';

async function manifestIn(folder: string): Promise<string | null> {
  try {
    return await readFile(join(folder, MANIFEST), 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return null;
    throw new CliFault('failed', `${join(folder, MANIFEST)} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

async function noManifest(folder: string): Promise<CliFault> {
  const names = await namesIn(folder);
  if (names === null) return new CliFault('usage', `There is no folder ${folder}.`);
  if (holdsUnfinished(names))
    return new CliFault('failed', `The export in ${folder} is incomplete: it has no ${MANIFEST}.`, {
      hint: 'Run the export again: it starts over.',
    });
  return new CliFault('usage', `${folder} holds no export: it has no ${MANIFEST}.`);
}

/** Null: no such folder. */
export async function namesIn(folder: string): Promise<readonly string[] | null> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CliFault('usage', `${folder} cannot be used as a folder: ${(cause as Error).message}.`, { cause });
  }
}

/** An export was killed here: it removes the old manifest first and writes the new one last. */
export function holdsUnfinished(names: readonly string[]): boolean {
  return names.includes(PARTIAL);
}
