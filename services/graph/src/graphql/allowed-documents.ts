import { readFileSync } from 'node:fs';
import { SetupError } from '@wts/service-kit/config';

/** Reads DOCUMENTS_FILE: documents by their hashes. */
export function readAllowedDocuments(file: string): ReadonlyMap<string, string> {
  let entries: [string, unknown][];
  try {
    entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object);
  } catch (cause) {
    throw new SetupError(`DOCUMENTS_FILE: ${(cause as Error).message}`, { cause });
  }
  return new Map(
    entries.map(([hash, text]) => {
      if (typeof text !== 'string') throw new SetupError(`DOCUMENTS_FILE: the document ${hash} must be a text`);
      return [hash, text];
    }),
  );
}
