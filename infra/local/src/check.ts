/** `npm run check`: all static checks and house rules, in about a minute. */
import { readOptions } from './command-options.ts';
import { runTask } from './task.ts';
import { STATIC_CHECKS, TIDY_CHECK, runChecks } from './testing/checks.ts';

const USAGE = `npm run check [-- --help]

Runs all static checks and house rules, and exits with 1 when one fails. It has no options.`;

await runTask(async () => {
  if (readOptions(USAGE, {}) === null) return 0;
  // Beside the others, because it uses one processor.
  const passed = await Promise.all([STATIC_CHECKS, [TIDY_CHECK]].map((checks) => runChecks(checks, console.log)));
  const [sum, all] = [passed.reduce((some, more) => some + more), STATIC_CHECKS.length + 1];
  console.log(`\n${sum} of ${all} checks passed`);
  return sum === all ? 0 : 1;
});
