import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, UserError } from './platform.mjs';

/**
 * Tasks of other packages; every other task is a file of infra/local/src.
 * @type {Record<string, string>}
 */
const TASKS = {
  bench: 'infra/bench/src/main.ts',
  chart: 'infra/chart-check/src/main.ts',
  cluster: 'infra/cluster/src/main.ts',
  fuzz: 'test-e2e/fuzz/main.ts',
  images: 'infra/images/src/main.ts',
  observability: 'infra/observability/src/main.ts',
  secrets: 'infra/local/src/installation/main.ts',
  soak: 'infra/verify/src/soak/main.ts',
  storm: 'infra/verify/src/storm/main.ts',
  'verify-clients': 'test-e2e/clients/main.ts',
  'verify-during': 'infra/verify/src/during/main.ts',
  'verify-secrets': 'infra/verify/src/secrets/main.ts',
  'verify-log': 'infra/verify/src/main.ts',
};

/**
 * The program of a task.
 * @param {string} task
 */
export function scriptOf(task) {
  const file = join(ROOT, TASKS[task] ?? `infra/local/src/${task}.ts`);
  if (/^[a-z][a-z-]*$/.test(task) && existsSync(file)) return file;
  throw new UserError(`There is no task "${task}". Run "npm run" to list the tasks.`);
}
