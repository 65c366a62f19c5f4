import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UserError } from './user-error.ts';

type Values<T extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** The options of a command. Null after `--help`, which prints the usage instead. */
export function readOptions<const T extends ParseArgsOptionsConfig>(usage: string, options: T): Values<T> | null {
  return readWords(usage, options, false)?.values ?? null;
}

/** The same for a command that has words besides. */
export function readWords<const T extends ParseArgsOptionsConfig>(
  usage: string,
  options: T,
  allowPositionals = true,
): { readonly values: Values<T>; readonly positionals: readonly string[] } | null {
  refuseOptionsOfNpm(options);
  process.stdout.on('error', ignoreReaderGone);
  try {
    const { values, positionals } = parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals });
    if (!('help' in values)) return { values, positionals };
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n\n${usage}`);
  }
  console.log(usage);
  return null;
}

/** A reader that has enough, such as `head`, is no fault of the command, which comes to its end. */
function ignoreReaderGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** The same for a program that has nothing to clean up yet: exits after `--help`, and with a sentence after a wrong option. */
export function optionsOrExit<const T extends ParseArgsOptionsConfig>(usage: string, options: T): Values<T> {
  try {
    return readOptions(usage, options) ?? process.exit(0);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

/**
 * npm takes options without a `--` before them for its own, and the command gets them only as variables (`npm start --fresh`
 * sets `npm_config_fresh`). Without a refusal it would run as if they had not been typed.
 */
function refuseOptionsOfNpm(options: ParseArgsOptionsConfig): void {
  const { npm_lifecycle_event: script, ...env } = process.env;
  if (script === undefined) return;
  const left = process.argv.slice(2);
  const taken = Object.entries(options).flatMap(([name, { type }]) => {
    const value = env[`npm_config_${name.replaceAll('-', '_')}`];
    if (value === undefined) return [];
    if (type === 'boolean') return [`--${name}`];
    // npm leaves the value after a blank to the command.
    return [`--${name}`, value === 'true' ? (left.shift() ?? '...') : value];
  });
  if (taken.length === 0) return;
  const command = ['start', 'test'].includes(script) ? `npm ${script}` : `npm run ${script}`;
  throw new UserError(
    `npm did not pass on ${taken[0]}: options of this command come after "--". Type:\n\n  ${[command, '--', ...taken, ...left].join(' ')}`,
  );
}
