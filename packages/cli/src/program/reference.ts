import { EXITS } from '../fault.ts';
import { usageOf, withChoices } from './help.ts';
import { GLOBAL_OPTIONS, type ArgSpec, type CommandSpec, type Example, type OptionSpec } from './spec.ts';
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
    specTable('option', GLOBAL_OPTIONS),
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
    ...(args.length === 0 ? [] : [specTable('word', args)]),
    ...(options.length === 0 ? [] : [specTable('option', options)]),
    ...(fields === undefined ? [] : [`JSON fields: ${fields.map((field) => `\`${field}\``).join(', ')}`]),
    ...(examples.length === 0 ? [] : [block(NOT_RUN, examples.map(exampleText).join('\n'))]),
    ...commands.flatMap((command) => sectionsOf([...path, command])),
  ];
}

function exampleText({ command, prints }: Example): string {
  return `$ ${command}${prints === undefined ? '' : `\n${prints}`}`;
}

/** Of the words or the options of a command. */
function specTable(head: string, specs: readonly (ArgSpec | OptionSpec)[]): string {
  const rows = specs.map((spec) => {
    const choices = spec.choices?.map((choice) => `\`${choice}\``);
    return [`\`${'form' in spec ? spec.form : spec.flags}\``, withChoices(spec.about, choices)] as const;
  });
  return table([[head, ''], ...rows]);
}

function table([head = ['', ''], ...rows]: readonly (readonly [string, string])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), '|---|---|', ...rows.map(line)].join('\n');
}

function block(mark: string, text: string): string {
  return `\`\`\`${mark}\n${text}\n\`\`\``;
}
