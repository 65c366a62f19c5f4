/** `npm run check`: all static checks and house rules, in about a minute. */
import { runTask } from './task.ts';
import { STATIC_CHECKS, TIDY_CHECK, runChecks } from './testing/checks.ts';

await runTask(async () => {
  // Beside the others, because it uses one processor.
  const passed = await Promise.all([STATIC_CHECKS, [TIDY_CHECK]].map((checks) => runChecks(checks, console.log)));
  const [sum, all] = [passed.reduce((some, more) => some + more), STATIC_CHECKS.length + 1];
  console.log(`\n${sum} of ${all} checks passed`);
  return sum === all ? 0 : 1;
});
