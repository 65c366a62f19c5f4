import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';

/** The repository. This package writes nothing outside it. */
export const ROOT = resolve(import.meta.dirname, '../../..');
/** Ignored by git: data, logs, secrets, records of running processes. */
export const LOCAL = join(ROOT, '.local');
export const STACK_FILE = join(LOCAL, 'stack.json');
/** The directory of `npm start`. */
export const START_DIRECTORY = join(LOCAL, 'dev');

/** Everything of `npm start` is below one directory, so that `--fresh` removes only that. */
export const PATHS = {
  lock: join(LOCAL, 'start.lock'),
  secrets: join(START_DIRECTORY, 'secrets.json'),
  operatorToken: join(START_DIRECTORY, 'operator-token'),
  records: join(START_DIRECTORY, 'run'),
  logs: join(START_DIRECTORY, 'logs'),
  postgres: join(START_DIRECTORY, 'postgres'),
  nats: join(START_DIRECTORY, 'nats'),
  webhooks: join(START_DIRECTORY, 'webhooks'),
};

/** Distinguishes two clones on one machine where data must be outside the repository. */
export function repositoryHash(): string {
  return createHash('sha256').update(ROOT).digest('hex').slice(0, 12);
}

/** Programs of a service. With arguments all of them end by themselves. */
export type ServiceScript = 'main' | 'seed' | 'operator';

export function serviceFile(service: string, file: ServiceScript): string {
  return join(ROOT, 'services', service, 'src', `${file}.ts`);
}

/** Where the main program of a service is, by default its source. */
export type ProgramOf = (service: string) => string | Promise<string>;
export const sourceOf: ProgramOf = (service) => serviceFile(service, 'main');
