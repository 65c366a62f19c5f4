import { EXITS } from '../fault.ts';
import { usageOf } from './help.ts';
import { GLOBAL_OPTIONS, type CommandSpec, type OptionSpec } from './spec.ts';
import { TOPICS } from './topics.ts';
import { ROOT } from './tree/index.ts';

const REFERENCE_COLUMNS = 120;
const NOT_RUN = 'console not run: examples have names of their own';

/** Every command as a document, made from the same data as the help. `npm run settings` writes it into the repository. */
export function referenceText(): string {
  const commands = (ROOT.commands ?? []).filter(({ isHidden }) => isHidden !== true);
  return [
    '# Reference of `wts`',
    'Written by `npm run settings` from `src/program/tree`. Do not edit. `wts help` and `--help` show the same.',
    '## Options of every command',
    optionsTable(GLOBAL_OPTIONS),
    ...commands.flatMap((command) => sectionsOf([ROOT, command])),
    '## Exit codes',
    table([['code', 'meaning'], ...Object.values(EXITS).map(([code, meaning]) => [String(code), meaning] as const)]),
    ...TOPICS.filter(({ name }) => name !== 'exit-codes').flatMap(({ summary, text: textOf }) => {
      const text = textOf(REFERENCE_COLUMNS).trimEnd();
      return [`## ${summary}`, block(text.includes('$ wts') ? NOT_RUN : 'text', text)];
    }),
  ]
    .map((part) => part.trimEnd())
    .join('\n\n')
    .concat('\n');
}

function sectionsOf(path: readonly CommandSpec[]): string[] {
  const spec = path.at(-1) as CommandSpec;
  const name = path.map((one) => one.name).join(' ');
  const { summary, about, args = [], options = [], examples = [], fields, commands = [] } = spec;
  return [
    `${'#'.repeat(path.length)} ${name}`,
    `${summary}.${about === undefined ? '' : ` ${about}`}`,
    `Usage: \`${usageOf(name, spec)}\``,
    ...(args.length === 0
      ? []
      : [
          table([
            ['word', ''],
            ...args.map(({ form, about: text, choices }) => [`\`${form}\``, withChoices(text, choices)] as const),
          ]),
        ]),
    ...(options.length === 0 ? [] : [optionsTable(options)]),
    ...(fields === undefined ? [] : [`JSON fields: ${fields.map((field) => `\`${field}\``).join(', ')}`]),
    ...(examples.length === 0
      ? []
      : [
          block(
            'console not run: examples have names of their own',
            examples
              .flatMap(({ command, prints }) => [`$ ${command}`, ...(prints === undefined ? [] : [prints])])
              .join('\n'),
          ),
        ]),
    ...commands.flatMap((command) => sectionsOf([...path, command])),
  ];
}

function optionsTable(options: readonly OptionSpec[]): string {
  return table([
    ['option', ''],
    ...options.map(({ flags, about, choices }) => [`\`${flags}\``, withChoices(about, choices)] as const),
  ]);
}

function withChoices(about: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? about : `${about} One of: ${choices.map((choice) => `\`${choice}\``).join(', ')}.`;
}

function table([head = ['', ''], ...rows]: readonly (readonly [string, string])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), '|---|---|', ...rows.map(line)].join('\n');
}

function block(mark: string, text: string): string {
  return `\`\`\`${mark}\n${text}\n\`\`\``;
}
