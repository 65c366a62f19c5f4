import { described } from '../types/names.ts';

/** An entry of a type: its description, then its definition. */
export function entry(doc: string, definition: string): string {
  return `  ${described(doc)}\n  ${definition}`;
}

/** A type with its entries. */
export function block(doc: string, head: string, entries: readonly string[]): string {
  return `${described(doc)}\n${head} {\n${entries.join('\n')}\n}`;
}
