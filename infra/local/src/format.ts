/** `npm run format`: formats every file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readOptions } from './command-options.ts';
import { ROOT } from './layout.ts';
import { runTask } from './task.ts';

const USAGE = `npm run format [-- files]

Formats these files, or every file.`;

await runTask(async () => {
  const files = process.argv.slice(2);
  if (files.some((file) => file.startsWith('-')) && readOptions(USAGE, {}) === null) return 0;
  const formatter = spawn(join(ROOT, 'node_modules/.bin/oxfmt'), files.length === 0 ? ['.'] : files, {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const [code] = (await once(formatter, 'exit')) as [number | null];
  return code ?? 1;
});
