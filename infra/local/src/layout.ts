import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The repository. This package writes nothing outside it. */
export const ROOT = resolve(import.meta.dirname, '../../..');
/** Ignored by git: data, logs, secrets, records of running processes. */
export const LOCAL = join(ROOT, '.local');
export const STACK_FILE = join(LOCAL, 'stack.json');
/** The directory of `npm start`. */
export const START_DIRECTORY = join(LOCAL, 'dev');

/** Distinguishes two clones on one machine where data must be outside the repository. */
export function repositoryHash(): string {
  return createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
}

export function serviceFile(service: string, file: 'main' | 'migrate' | 'seed'): string {
  return join(ROOT, 'services', service, 'src', `${file}.ts`);
}

export function hasServiceFile(service: string, file: 'main' | 'migrate' | 'seed'): boolean {
  return existsSync(serviceFile(service, file));
}
