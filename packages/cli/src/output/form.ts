/** `table`: for a person at a terminal. `tabs`: for a pipe. `ids`: of `--quiet`. */
export type Form = 'table' | 'tabs' | 'json' | 'ndjson' | 'ids';

export interface Chosen {
  readonly form: Form;
  readonly noColor: boolean;
  readonly accessible: boolean;
}

/**
 * The form that was chosen. It is read before the options are, so that the refusal of a wrong option has it too.
 */
export function formOf(argv: readonly string[], isTerminal: boolean): Chosen {
  const end = argv.indexOf('--');
  const given = end === -1 ? argv : argv.slice(0, end);
  const has = (long: string, short?: string): boolean =>
    given.some(
      (token) => token === long || token.startsWith(`${long}=`) || (short !== undefined && isShort(token, short)),
    );
  const form = has('--ndjson')
    ? 'ndjson'
    : has('--json')
      ? 'json'
      : has('--quiet', 'q')
        ? 'ids'
        : isTerminal
          ? 'table'
          : 'tabs';
  return { form, noColor: has('--no-color'), accessible: has('--accessible') };
}

/** Also in a group, as `-yq`. */
function isShort(token: string, letter: string): boolean {
  return /^-[a-z]+$/i.test(token) && token.includes(letter);
}
