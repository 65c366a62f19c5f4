import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/** A folder with the migrations of `directory` before the one that begins with `number`: of a database from before a change. */
export function migrationsBefore(directory: string, number: string): string {
  const folder = scratch(`migrations-before-${number}`);
  for (const file of readdirSync(directory)) {
    if (file < number) symlinkSync(join(directory, file), join(folder, file));
  }
  return folder;
}
