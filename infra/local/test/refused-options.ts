/**
 * Runs scripts of npm with an option that none has, one after the other in this process, because loading their modules for each
 * takes most of the time. Prints the exit code of each after what it prints.
 */
import { scriptOf } from '../bootstrap/tasks.mjs';

class Ended extends Error {}

process.exit = (code) => {
  process.exitCode = code;
  throw new Ended();
};
for (const script of process.argv.slice(2)) {
  console.error(`--- ${script}`);
  const file = scriptOf(script.replace(':', '-'));
  process.argv = [process.execPath, file, '--no-such-option'];
  process.exitCode = undefined;
  await import(file).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  console.error(`exit code ${process.exitCode ?? 0}`);
}
process.exitCode = 0;
