import { Argument, Command, CommanderError, Option } from 'commander';
import { usageFault } from '../fault.ts';
import { Options } from '../options.ts';
import { GLOBAL_OPTIONS, readFlags, type CommandSpec, type OptionSpec } from './spec.ts';

export interface Parsed {
  readonly words: readonly string[];
  readonly options: Options;
}

/** Reads the words and options of one command. Throws a fault of `usage`. */
export function parse(path: readonly CommandSpec[], rest: readonly string[]): Parsed {
  const spec = path.at(-1) as CommandSpec;
  const name = path.map((one) => one.name).join(' ');
  const declared = [...(spec.options ?? []), ...GLOBAL_OPTIONS];
  const command = new Command(name)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .helpOption(false)
    .allowExcessArguments(false)
    .action(() => {});
  for (const { form, about, choices } of spec.args ?? []) {
    const argument = new Argument(form, about);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const option of declared) command.addOption(optionFor(option));
  try {
    command.parse([...rest], { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError ? faultOf(error, name) : error;
  }
  refuseBlank(command, spec, declared);
  const names = declared.map(({ flags }) => readFlags(flags).name);
  return { words: command.args, options: new Options(command.opts(), names) };
}

/** Words that may be blank, because they become one text; a label of `wts label` completes. */
const TEXT = /^[<[](?:title|words|name|text|label)\.\.\./;

/** A blank name, as of a variable of a script that is not set, would be a part of the name of every record. */
function refuseBlank(command: Command, { args = [] }: CommandSpec, options: readonly OptionSpec[]): void {
  const given = [
    ...command.args.flatMap((word, at) => {
      const { form = '', completes } = args[Math.min(at, args.length - 1)] ?? {};
      return completes === undefined && TEXT.test(form) ? [] : [[form, [word]] as const];
    }),
    ...options
      .filter(({ completes }) => completes !== undefined)
      .map(({ flags }) => {
        const value = command.getOptionValue(readFlags(flags).name) as string | readonly string[] | undefined;
        return [flags, [value ?? []].flat()] as const;
      }),
  ];
  const blank = given.find(([, words]) => words.some((word) => word.trim() === ''));
  if (blank !== undefined) throw usageFault(`${blank[0]} may not be empty.`, `See ${command.name()} --help`);
}

function optionFor({ flags, about, choices, isRepeated = false }: OptionSpec): Option {
  const option = new Option(flags, about);
  if (choices !== undefined && !isRepeated) option.choices(choices);
  if (isRepeated) {
    option.argParser((value: string, before: readonly string[] | undefined) => {
      if (choices?.includes(value) === false)
        throw usageFault(`${flags.replace(/ .*/, '')} takes ${choices.join(', ')}, not ${JSON.stringify(value)}.`);
      return [...(before ?? []), value];
    });
  }
  return option;
}

/** Commander writes `error: unknown option '--stat'`, and `(Did you mean --state?)` in a line below. */
function faultOf({ message }: CommanderError, name: string): Error {
  const [what = '', near] = message.replace(/^error: /, '').split('\n');
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.?$/, '.');
  const isWord = /^Unknown option '-[^-]./.test(sentence);
  const help = `See ${name} --help${isWord ? `. A word that begins with - stands behind --: ${name} -- -word` : ''}`;
  return usageFault(sentence, near?.replace(/^\((.*)\)$/, '$1') ?? help);
}
