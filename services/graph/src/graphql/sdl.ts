/*
 * The text of the schema, from data. Parts of it that several types have are spread into their entries.
 */

/** What a type has, or the arguments of a field: descriptions by definitions, such as `{ 'id: ID!': 'Its id.' }`. */
export type Entries = Readonly<Record<string, string>>;

/** Those of a list. */
export function entriesOf<T>(items: readonly T[], entryOf: (item: T) => [definition: string, doc: string]): Entries {
  return Object.fromEntries(items.map(entryOf));
}

/** A description, before the definition it is of. */
export function described(text: string): string {
  return `"""\n${text.replaceAll('"""', '\\"""')}\n"""`;
}

/** A type with its entries; `head` is its definition without them: `type Task`. */
export function block(doc: string, head: string, entries: Entries): string {
  return `${described(doc)}\n${head} {\n${linesOf(entries)}\n}`;
}

/** The definition of a field with arguments; `head` is the one without them: `name: Type`. */
export function field(head: string, args: Entries): string {
  const [name, type] = head.split(': ');
  return `${name}(\n${linesOf(args)}\n): ${type}`;
}

function linesOf(entries: Entries): string {
  return Object.entries(entries)
    .map(([definition, doc]) => `${described(doc)}\n${definition}`)
    .join('\n');
}

/** What every result of a change has. */
export const ERROR: Entries = { 'error: MutationError': 'Why it was refused; null when it was accepted.' };
