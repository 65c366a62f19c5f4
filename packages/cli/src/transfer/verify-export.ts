import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CliFault } from '../fault.ts';
import { readLines } from './line-files.ts';
import { LineSorter } from './line-sorter.ts';
import type { ExportedFile, Manifest } from './manifest.ts';
import { isImported, peopleIn, ruleOf, type ExportRecord } from './model-rules.ts';
import type { Progress } from '../output/progress.ts';

const FINDINGS_MAX = 20;

/** Throws when a file is not exactly the one that the manifest names. */
export async function checkFiles(folder: string, manifest: Manifest, signal: AbortSignal): Promise<void> {
  for (const file of manifest.files) {
    const fault = await faultOf(folder, file, signal);
    if (fault !== null)
      throw new CliFault('failed', `${fault}.`, {
        hint: 'Run the export again, or copy it again from where it is whole.',
      });
  }
}

async function faultOf(folder: string, file: ExportedFile, signal: AbortSignal): Promise<string | null> {
  const path = join(folder, file.name);
  // A name with a folder would be a file elsewhere.
  if (!/^[A-Za-z]\w*\.ndjson$/.test(file.name)) return `The manifest names a file that no export has: ${file.name}`;
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) return `${file.name} is missing`;
  if (found.size !== file.bytes)
    return `${file.name} has ${found.size} bytes instead of ${file.bytes}: it is not whole`;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  if (hash.digest('hex') !== file.sha256) return `${file.name} was changed after the export: its SHA-256 differs`;
  return null;
}

export interface VerifyOptions {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Reads a whole export: hashes, counts, and that everything that a record refers to is in it. What is wrong is one sentence each. */
export async function verifyExport({ folder, manifest, progress, signal }: VerifyOptions): Promise<readonly string[]> {
  await checkFiles(folder, manifest, signal);
  progress.stage(
    'verify',
    manifest.files.reduce((sum, { records }) => sum + records, 0),
  );
  const findings: string[] = [];
  const people = new Set(manifest.people.map(({ id }) => id));
  await using ids = LineSorter.temporary();
  for (const file of manifest.files) {
    let records = 0;
    for await (const lines of readLines(join(folder, file.name))) {
      signal.throwIfAborted();
      for (const { text } of lines) {
        records += 1;
        const record = JSON.parse(text) as ExportRecord;
        if (record.__class !== file.model) findings.push(`${file.name} line ${records} is a ${record.__class}`);
        // Of one id, the record itself sorts before those that refer to it.
        await ids.add(`${file.model} ${record.id} 0`, '');
        for (const [target, id] of referencesOf(record))
          await ids.add(`${target} ${id} 1`, `${file.model} ${record.id}`);
        const unknown = peopleIn(record).filter((id) => !people.has(id));
        findings.push(
          ...unknown.map((id) => `${file.model} ${record.id} refers to a person ${id} who is not in the manifest`),
        );
      }
      progress.advance(lines.length);
      if (findings.length >= FINDINGS_MAX) return findings.slice(0, FINDINGS_MAX);
    }
    if (records !== file.records) findings.push(`${file.name} has ${records} records instead of ${file.records}`);
  }
  let last = '';
  for await (const { key, text } of ids.sorted()) {
    const record = key.slice(0, -2);
    if (text === '' && record === last) findings.push(`${record} is in the export twice`);
    if (text !== '' && record !== last) findings.push(`${text} refers to ${record}, which is not in the export`);
    if (text === '') last = record;
    if (findings.length >= FINDINGS_MAX) break;
  }
  return findings;
}

function referencesOf(record: ExportRecord): readonly [model: string, id: string][] {
  if (!isImported(record.__class)) return [];
  return Object.entries(ruleOf(record.__class).references).flatMap(([field, model]) =>
    [record[field]]
      .flat()
      .filter((id) => typeof id === 'string')
      .map((id): [string, string] => [model, id]),
  );
}
