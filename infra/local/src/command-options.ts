import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UserError } from './user-error.ts';

/** The options of a command. Null after `--help`, which prints the usage instead. */
export function readOptions<const T extends ParseArgsOptionsConfig>(
  usage: string,
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] | null {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } });
    if (!('help' in values)) return values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n\n${usage}`);
  }
  console.log(usage);
  return null;
}
