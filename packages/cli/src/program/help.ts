import { styled, type Look } from '../output/look.ts';
import { GLOBAL_OPTIONS, type CommandSpec, type Example, type OptionSpec } from './spec.ts';
import { TOPICS } from './topics.ts';
import { rows, textColumns, wrapped } from './wrap.ts';

type HelpLook = Pick<Look, 'isColored' | 'isTerminal' | 'columns'>;

/** The help of a command: what it does, examples, then how it is called. */
export function helpText(path: readonly CommandSpec[], look: HelpLook): string {
  const columns = textColumns(look);
  const spec = path.at(-1) as CommandSpec;
  const name = path.map((one) => one.name).join(' ');
  const section = (heading: string, text: string | null): string[] =>
    text === null ? [] : [`${styled(heading, 'bold', look)}\n${text}`];
  const isGroup = spec.commands !== undefined;
  const examples =
    spec.examples ?? (spec.commands ?? []).flatMap((command) => command.examples?.slice(0, 1) ?? []).slice(0, 3);
  const sections = [
    `${spec.summary}.${spec.about === undefined ? '' : `\n${wrapped(spec.about, 0, columns)}`}`,
    ...section('Examples', examples.length === 0 ? null : examplesText(examples)),
    ...section('Usage', `  ${usageOf(name, spec)}`),
    ...section('Commands', isGroup ? commandsText(spec, columns) : null),
    ...section(
      'Words',
      spec.args === undefined
        ? null
        : rows(
            spec.args.map(({ form, about, choices }) => [form, withChoices(about, choices)]),
            columns,
          ),
    ),
    ...section('Options', spec.options === undefined ? null : optionsText(spec.options, columns)),
    ...section('Options of every command', path.length === 1 ? optionsText(GLOBAL_OPTIONS, columns) : null),
    ...section('JSON fields', spec.fields === undefined ? null : wrapped(spec.fields.join(', '), 2, columns)),
    ...section(
      'Topics',
      path.length === 1
        ? rows(
            TOPICS.map((topic) => [`help ${topic.name}`, topic.summary]),
            columns,
          )
        : null,
    ),
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

function commandsText({ commands = [] }: CommandSpec, columns: number): string {
  return rows(
    commands.filter(({ isHidden }) => isHidden !== true).map(({ name, summary }) => [name, summary]),
    columns,
  );
}

function optionsText(options: readonly OptionSpec[], columns: number): string {
  return rows(
    options.map(({ flags, about, choices }) => [
      flags.startsWith('--') ? `    ${flags}` : flags,
      withChoices(about, choices),
    ]),
    columns,
  );
}

export function withChoices(about: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? about : `${about} One of: ${choices.join(', ')}.`;
}
