import type { Look } from '../output/look.ts';

/** Longer lines are hard to read. */
const COLUMNS_MAX = 100;
const NAME_COLUMNS_MAX = 34;

/** How wide texts of this program are. */
export function textColumns({ isTerminal, columns }: Pick<Look, 'isTerminal' | 'columns'>): number {
  return isTerminal ? Math.min(columns, COLUMNS_MAX) : COLUMNS_MAX;
}

/** Names with what they are beside them. */
export function rows(all: readonly (readonly [name: string, text: string])[], columns: number): string {
  const width = Math.min(NAME_COLUMNS_MAX, columns >> 1, Math.max(...all.map(([name]) => name.length)));
  return all
    .map(([name, text]) => {
      const lines = wrapped(text, width + 4, columns).trimStart();
      return name.length > width ? `  ${name}\n${' '.repeat(width + 4)}${lines}` : `  ${name.padEnd(width)}  ${lines}`;
    })
    .join('\n');
}

export function wrapped(text: string, indent: number, columns: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && indent + last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n');
}
