import { described } from '../types/names.ts';

/** An entry of a type: its description, then its definition. */
export function entry(doc: string, definition: string): string {
  return `  ${described(doc)}\n  ${definition}`;
}

/** A type with its entries. */
export function block(doc: string, head: string, entries: readonly string[]): string {
  return `${described(doc)}\n${head} {\n${entries.join('\n')}\n}`;
}

/** A field with arguments; `head` is its name and its type: `name: Type`. */
export function field(head: string, doc: string, args: readonly string[]): string {
  const [name, type] = head.split(': ');
  return entry(doc, `${name}(\n${args.map((text) => text.replaceAll(/^/gm, '  ')).join('\n')}\n  ): ${type}`);
}

/** What every result of a change has. */
export const ERROR = entry('Why it was refused; null when it was accepted.', 'error: MutationError');
