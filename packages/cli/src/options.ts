import { usageFault } from './fault.ts';

type Value = string | boolean | readonly string[] | undefined;

/** The fields that were given: in a change, one that is undefined stays as it is. */
export function given<Fields extends object>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

/** The options of one call, by their long names in camel case, as `dueFrom` of `--due-from`. */
export class Options {
  readonly #values: Readonly<Record<string, Value>>;
  readonly #declared: ReadonlySet<string>;

  constructor(values: Readonly<Record<string, Value>>, declared: readonly string[]) {
    this.#values = values;
    this.#declared = new Set(declared);
  }

  text(name: string): string | undefined {
    const value = this.#of(name);
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#of(name) === true;
  }

  /** Of an option that may be repeated; empty when it was not given. */
  list(name: string): readonly string[] {
    const value = this.#of(name);
    return Array.isArray(value) ? (value as readonly string[]) : [];
  }

  number(name: string, { min, max }: { readonly min: number; readonly max: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw usageFault(`--${name} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
  }

  has(name: string): boolean {
    return this.#of(name) !== undefined;
  }

  /** A command that reads an option without declaring it is a fault of the program, which its first test shows. */
  #of(name: string): Value {
    if (!this.#declared.has(name)) throw new Error(`the command does not declare the option ${name}`);
    return this.#values[name];
  }
}
