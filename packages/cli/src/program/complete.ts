import { readConfig } from '../session/config-file.ts';
import type { Io } from '../io.ts';
import { recordsOf, type Candidate } from './complete-records.ts';
import { route } from './route.ts';
import { GLOBAL_OPTIONS, optionOf, readFlags, type ArgSpec, type CommandSpec, type OptionSpec } from './spec.ts';
import { TOPICS } from './topics.ts';
import { ROOT } from './tree/index.ts';

const DAYS = [
  'today',
  'tomorrow',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
  'end of month',
];

/** What may stand where the cursor is: the words of a line up to it, of which the last one may be the beginning of a word. */
export async function candidatesOf(words: readonly string[], io: Io): Promise<readonly Candidate[]> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? ''];
  const all = await possibleOf(before, current, io);
  const begun = current.toLowerCase();
  return all.filter(({ value }) => value.toLowerCase().startsWith(begun));
}

async function possibleOf(before: readonly string[], current: string, io: Io): Promise<readonly Candidate[]> {
  const { path, rest } = route(before, ROOT);
  const spec = path.at(-1) as CommandSpec;
  const options = [...(spec.options ?? []), ...GLOBAL_OPTIONS];
  const previous = before.at(-1) ?? '';
  const waiting = previous.startsWith('-') && !previous.includes('=') ? optionOf(previous, options) : undefined;
  if (waiting !== undefined) {
    const { value, long } = readFlags(waiting.flags);
    if (long === '--json') return fieldsAfter(current, spec.fields ?? []);
    if (value === 'needed') return valuesOf(waiting, before, io);
  }
  if (current.startsWith('-')) return options.map(({ flags, about }) => ({ value: readFlags(flags).long, about }));
  if (path.some(({ name }) => name === 'help'))
    return [...TOPICS.map(({ name, summary }) => ({ value: name, about: summary })), ...commandsOf(ROOT)];
  const arg = argAt(spec, rest);
  const implied = spec.commands?.find(({ name }) => name === spec.implied)?.args?.[0];
  const argument = arg ?? implied;
  return [...commandsOf(spec), ...(argument === undefined ? [] : await valuesOf(argument, before, io))];
}

function commandsOf({ commands = [] }: CommandSpec): Candidate[] {
  return commands
    .filter(({ isHidden }) => isHidden !== true)
    .map(({ name, summary }) => ({ value: name, about: summary }));
}

/** The argument that the next word is; the last one may take several. */
function argAt({ args = [], options = [] }: CommandSpec, rest: readonly string[]): ArgSpec | undefined {
  const words = rest.filter((word, at) => {
    const option = optionOf(rest[at - 1] ?? '', [...options, ...GLOBAL_OPTIONS]);
    return !word.startsWith('-') && (option === undefined || readFlags(option.flags).value !== 'needed');
  });
  const last = args.at(-1);
  return args[words.length] ?? (last?.form.includes('...') === true ? last : undefined);
}

async function valuesOf(
  { choices, completes, about }: ArgSpec | OptionSpec,
  before: readonly string[],
  io: Io,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map((value) => ({ value, about: '' }));
  if (completes === 'profile')
    return Object.entries((await readConfig(io)).profiles).map(([value, { url }]) => ({ value, about: url }));
  if (completes === 'topic') return [];
  // Without a login or an answer, the words of the program itself remain.
  if (completes !== undefined) return recordsOf(completes, before, io).catch(() => []);
  return /\bday\b/i.test(about) ? DAYS.map((value) => ({ value, about: '' })) : [];
}

/** Fields are separated by commas. */
function fieldsAfter(current: string, fields: readonly string[]): Candidate[] {
  const done = current.slice(0, current.lastIndexOf(',') + 1);
  return fields
    .filter((name) => !done.split(',').includes(name))
    .map((name) => ({ value: `${done}${name}`, about: '' }));
}
