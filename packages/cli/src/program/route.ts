import { usageFault } from '../fault.ts';
import { nearestWord } from './nearest.ts';
import { GLOBAL_OPTIONS, optionOf, readFlags, type CommandSpec, type OptionSpec } from './spec.ts';

export interface Route {
  /** From the root to the command. */
  readonly path: readonly CommandSpec[];
  /** What is left for the parser, without the words that name the command. */
  readonly rest: readonly string[];
  readonly asks: 'help' | 'version' | null;
}

/**
 * Finds the command that words name. Options may stand before, between and after these words, so the values of options are
 * passed over; of an option that is not known, none is.
 */
export function route(argv: readonly string[], root: CommandSpec): Route {
  const path: CommandSpec[] = [root];
  const rest: string[] = [];
  let asks: Route['asks'] = null;
  const tokens = [...argv];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const at = path.at(-1) as CommandSpec;
    if (token === '--') {
      rest.push(token, ...tokens);
      break;
    }
    if (token === '-h' || token === '--help') asks = 'help';
    else if (path.length === 1 && (token === '--version' || token === '-V')) asks = 'version';
    else if (token.startsWith('-') && token.length > 1) {
      rest.push(token);
      if (takesValue(token, at.options ?? []) && tokens.length > 0) rest.push(tokens.shift() as string);
    } else {
      const next = nextOf(token, path);
      if (next === null) rest.push(token);
      else path.push(...next.specs);
      if (next?.keepsWord === true) rest.push(token);
    }
  }
  return { path, rest: withFields(rest, path.at(-1) as CommandSpec), asks };
}

/** Words for the same, of which a command has one. Help and completion show that alone. */
const SAME_WORDS: readonly (readonly string[])[] = [
  ['add', 'create', 'new'],
  ['delete', 'remove', 'rm'],
  ['done', 'close', 'complete'],
  ['edit', 'change', 'update'],
  ['list', 'ls'],
  ['show', 'get', 'view'],
];

/** The command that a word names below another one; null for a word that is an argument. */
function nextOf(
  word: string,
  path: readonly CommandSpec[],
): { readonly specs: readonly CommandSpec[]; readonly keepsWord: boolean } | null {
  const { commands, implied } = path.at(-1) as CommandSpec;
  if (commands === undefined) return null;
  const same = SAME_WORDS.find((words) => words.includes(word));
  const named = commands.find(({ name }) => name === word) ?? commands.find(({ name }) => same?.includes(name));
  if (named !== undefined) return { specs: [named], keepsWord: false };
  const near = nearestWord(
    word,
    commands.flatMap(({ name, isHidden }) => (isHidden === true ? [] : [name])),
  );
  const command = commands.find(({ name }) => name === implied);
  // A word like a verb is a slip; a record of that name is shown by the full command.
  if (command !== undefined && near === null) return { specs: [command], keepsWord: true };
  const where = path.map(({ name }) => name).join(' ');
  const full = command === undefined ? '' : ` To show one of this name: ${where} ${command.name} ${word}`;
  const hint = near === null ? `${where} --help lists the commands.` : `Did you mean ${where} ${near}?${full}`;
  throw usageFault(`There is no command ${JSON.stringify(word)} of ${where}.`, hint);
}

/**
 * `--json` takes its fields with or without `=`. Before the words of a command, a word behind it is one of them unless it names a
 * field; behind a word it is always a list of fields, because a misspelled field would otherwise be written into the title of a task.
 */
function withFields(rest: readonly string[], { fields = [], args = [], options = [] }: CommandSpec): string[] {
  const given: string[] = [];
  let hasWord = args.length === 0;
  for (let at = 0; at < rest.length; at += 1) {
    const token = rest[at] as string;
    const next = rest[at + 1];
    const isOption = token.startsWith('-') && token.length > 1;
    if (token === '--') return [...given, ...rest.slice(at)];
    if (token === '--json') {
      const takesNext = next !== undefined && !next.startsWith('-') && (hasWord || namesField(next, fields));
      given.push(`--json=${takesNext ? next : ''}`);
      if (takesNext) at += 1;
    } else {
      given.push(token);
      if (next !== undefined && isOption && takesValue(token, options)) given.push(rest[(at += 1)] as string);
      hasWord ||= !isOption;
    }
  }
  return given;
}

function takesValue(token: string, options: readonly OptionSpec[]): boolean {
  const option = optionOf(token, [...GLOBAL_OPTIONS, ...options]);
  return option !== undefined && readFlags(option.flags).value === 'needed' && !token.includes('=');
}

function namesField(word: string, fields: readonly string[]): boolean {
  return word.split(',').some((name) => fields.includes(name));
}
