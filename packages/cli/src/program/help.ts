import type { Look } from '../output/look.ts';
import { styled } from '../output/look.ts';
import type { CommandSpec, Example, OptionSpec } from './spec.ts';
import { GLOBAL_OPTIONS } from './spec.ts';
import { TOPICS } from './topics.ts';

/** The help of a command: what it does, examples, then how it is called. */
export function helpText(path: readonly CommandSpec[], look: Pick<Look, 'isColored'>): string {
  const spec = path.at(-1) as CommandSpec;
  const name = path.map((one) => one.name).join(' ');
  const section = (heading: string, text: string | null): string[] =>
    text === null ? [] : [`${styled(heading, 'bold', look)}\n${text}`];
  const isGroup = spec.commands !== undefined;
  const examples =
    spec.examples ?? (spec.commands ?? []).flatMap((command) => command.examples?.slice(0, 1) ?? []).slice(0, 3);
  const sections = [
    `${spec.summary}.${spec.about === undefined ? '' : `\n${wrapped(spec.about, 0)}`}`,
    ...section('Examples', examples.length === 0 ? null : examplesText(examples)),
    ...section('Usage', `  ${usageOf(name, spec)}`),
    ...section('Commands', isGroup ? commandsText(spec) : null),
    ...section(
      'Words',
      spec.args === undefined
        ? null
        : rows(spec.args.map(({ form, about, choices }) => [form, withChoices(about, choices)])),
    ),
    ...section('Options', spec.options === undefined ? null : optionsText(spec.options)),
    ...section('Options of every command', path.length === 1 ? optionsText(GLOBAL_OPTIONS) : null),
    ...section('JSON fields', spec.fields === undefined ? null : wrapped(spec.fields.join(', '), 2)),
    ...section('Topics', path.length === 1 ? rows(TOPICS.map((topic) => [`help ${topic.name}`, topic.summary])) : null),
  ];
  return `${sections.join('\n\n')}\n`;
}

export function usageOf(name: string, { args, commands, implied }: CommandSpec): string {
  if (commands !== undefined) return `${name} ${implied === undefined ? '<command>' : '[command]'} [options]`;
  return [name, ...(args ?? []).map(({ form }) => form), '[options]'].join(' ');
}

function examplesText(examples: readonly Example[]): string {
  return examples
    .flatMap(({ command, prints }) => [`$ ${command}`, ...(prints?.split('\n') ?? [])])
    .map((line) => `  ${line}`)
    .join('\n');
}

function commandsText({ commands = [] }: CommandSpec): string {
  return rows(commands.filter(({ isHidden }) => isHidden !== true).map(({ name, summary }) => [name, summary]));
}

function optionsText(options: readonly OptionSpec[]): string {
  return rows(
    options.map(({ flags, about, choices }) => [
      flags.startsWith('--') ? `    ${flags}` : flags,
      withChoices(about, choices),
    ]),
  );
}

function withChoices(about: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? about : `${about} One of: ${choices.join(', ')}.`;
}

const TEXT_COLUMNS = 100;

function rows(all: readonly (readonly [string, string])[]): string {
  const width = Math.min(34, Math.max(...all.map(([name]) => name.length)));
  return all
    .map(([name, text]) => {
      const lines = wrapped(text, width + 4).trimStart();
      return name.length > width ? `  ${name}\n${' '.repeat(width + 4)}${lines}` : `  ${name.padEnd(width)}  ${lines}`;
    })
    .join('\n');
}

function wrapped(text: string, indent: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && indent + last.length + 1 + word.length > TEXT_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n');
}
