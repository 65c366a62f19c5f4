/** `npm run check`: all static checks and house rules, in about a minute. */
import { runTask } from './task.ts';
import { STATIC_CHECKS, TIDY_CHECK, runChecks } from './testing/checks.ts';

await runTask(async () => {
  const checks = [...STATIC_CHECKS, TIDY_CHECK];
  const passed = await runChecks(checks, console.log);
  console.log(`\n${passed} of ${checks.length} checks passed`);
  return passed === checks.length ? 0 : 1;
});
