import type { Action } from '../call.ts';

/*
 * The commands as data: routing, parsing, help, completion and the reference read them, and only a command that runs is loaded.
 */

/** What the words of an argument or an option are, for completion. */
export type Completes = 'task' | 'project' | 'team' | 'label' | 'person' | 'workspace' | 'topic' | 'profile';

export interface ArgSpec {
  /** As in a usage line: `<task>`, `<task...>`, `[task]`. */
  readonly form: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

export interface OptionSpec {
  /** As in a usage line: `-p, --project <name>`. */
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly isRepeated?: boolean;
  readonly completes?: Completes;
}

export interface Example {
  readonly command: string;
  /** What it prints, in short. */
  readonly prints?: string;
}

export interface CommandSpec {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Further sentences. */
  readonly about?: string;
  readonly args?: readonly ArgSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly Example[];
  /** The fields that `--json` may choose. */
  readonly fields?: readonly string[];
  readonly commands?: readonly CommandSpec[];
  /** The command for a first word that names none of `commands`: `show` of `wts task ACME-12`. */
  readonly implied?: string;
  /** Not in help: for programs such as a shell. */
  readonly isHidden?: boolean;
  readonly load?: () => Promise<Action>;
}

/** Options that every command takes, before or after its words. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '-w, --workspace <name>', about: 'Name, key or id of the workspace.', completes: 'workspace' },
  { flags: '--profile <name>', about: 'The profile to use.', completes: 'profile' },
  { flags: '--json [fields]', about: 'Print JSON: everything, or these fields, separated by commas.' },
  { flags: '--ndjson', about: 'Print one JSON record a line.' },
  { flags: '-q, --quiet', about: 'Print ids only, and no notes.' },
  { flags: '-y, --yes', about: 'Answer yes to every question.' },
  { flags: '--no-color', about: 'Print without colors.' },
  { flags: '--accessible', about: 'For screen readers: text instead of colors, bars and spinners.' },
  { flags: '-h, --help', about: 'Show help.' },
];

const FLAGS = /^(?:(-\w), )?--([a-z-]+)(?: ([<[]).*)?$/;

/** What a declaration of an option says, as `-p, --project <name>`. */
export function readFlags(flags: string): {
  readonly short: string | undefined;
  readonly long: string;
  readonly name: string;
  readonly value: 'none' | 'needed' | 'optional';
} {
  const [, short, word = '', bracket] = FLAGS.exec(flags) ?? [];
  if (word === '') throw new Error(`no flags of an option: ${flags}`);
  const name = word.replace(/^no-/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    short,
    long: `--${word}`,
    name,
    value: bracket === undefined ? 'none' : bracket === '<' ? 'needed' : 'optional',
  };
}

export function optionOf(token: string, options: readonly OptionSpec[]): OptionSpec | undefined {
  const flag = token.replace(/=.*$/s, '');
  return options.find(({ flags }) => {
    const { short, long } = readFlags(flags);
    return flag === long || flag === short;
  });
}
