/** `npm run check`: everything that can be said about the code without running it, in well under a minute. */
import { runTask } from './task.ts';
import { STATIC_CHECKS, TIDY_CHECK, runChecks } from './testing/checks.ts';

await runTask(async () => {
  const checks = [...STATIC_CHECKS, TIDY_CHECK];
  const held = await runChecks(checks, console.log);
  console.log(`\n${held} of ${checks.length} checks passed`);
  return held === checks.length ? 0 : 1;
});
