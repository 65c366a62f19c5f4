/** Starts a child, prints its pid, and waits until a test kills it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeAtExit } from '../src/processes/guard.ts';
import { launch } from '../src/processes/launch.ts';

const [, , swept = ''] = process.argv;
mkdirSync(swept);
removeAtExit(swept);
const { pid } = await launch({
  name: 'child',
  command: process.execPath,
  args: ['-e', 'setInterval(() => {}, 1000)'],
  env: {},
  log: join(swept, 'log'),
});
console.log(pid);
