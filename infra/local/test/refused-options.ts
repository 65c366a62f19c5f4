/**
 * Runs scripts of npm with an option that none has, one after the other in this process, because loading their modules for each
 * takes most of the time. Prints the exit code of each after what it prints.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptOf } from '../bootstrap/tasks.mjs';
import { ROOT } from '../src/layout.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

class Ended extends Error {}

process.exit = (code) => {
  process.exitCode = code;
  throw new Ended();
};
for (const script of process.argv.slice(2)) {
  console.error(`--- ${script}`);
  const task = script.replace(':', '-');
  if (!scripts[script]?.endsWith(` infra/local/bootstrap.mjs ${task}`))
    console.error(`package.json runs ${scripts[script]}`);
  const file = scriptOf(task);
  process.argv = [process.execPath, file, '--no-such-option'];
  process.exitCode = undefined;
  await import(file).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  console.error(`exit code ${process.exitCode ?? 0}`);
}
process.exitCode = 0;
