/** `npm run format`: formats every file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './layout.ts';
import { runTask } from './task.ts';

await runTask(async () => {
  const files = process.argv.slice(2);
  const formatter = spawn(join(ROOT, 'node_modules/.bin/oxfmt'), files.length === 0 ? ['.'] : files, {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const [code] = (await once(formatter, 'exit')) as [number | null];
  return code ?? 1;
});
