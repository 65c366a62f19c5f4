/** A fenced block of a document. The first word of its info string is its language, the rest says what a test does with it. */
export interface Block {
  readonly path: string;
  /** Of its first line of text, from 1. */
  readonly line: number;
  readonly language: string;
  readonly mark: string;
  readonly text: string;
}

/** A command, and under it in a `console` block what it prints. */
export interface Command {
  readonly text: string;
  readonly output: string;
}

export function blocksOf(path: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; info: string; lines: string[] } | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^ *```(.*)$/.exec(line)?.[1];
    if (open === null && fence !== undefined) open = { line: index + 2, info: fence.trim(), lines: [] };
    else if (open !== null && fence !== undefined) {
      const [language = '', ...mark] = open.info.split(' ');
      blocks.push({ path, line: open.line, language, mark: mark.join(' '), text: open.lines.join('\n') });
      open = null;
    } else open?.lines.push(line);
  }
  return blocks;
}

/** True for a block that is typed into a terminal, whether or not a test does so. */
export function isTyped({ language }: Block): boolean {
  return language === 'console' || language === 'sh';
}

/** What a block says about how its commands run. Null when the mark is none of these. */
export function runningOf({ mark }: Block): 'to the end' | 'keeps running' | 'not run' | null {
  if (mark === '') return 'to the end';
  if (mark === 'keeps running') return mark;
  return /^not run: \w+ \w+/.test(mark) ? 'not run' : null;
}

/** The command whose later output a `text` block shows. */
export function printerOf({ language, mark }: Block): string | null {
  return language === 'text' ? (/^printed by (npm .+)$/.exec(mark)?.[1] ?? null) : null;
}

/** In a `console` block commands begin with "$ ", as in a terminal; a `sh` block has only commands. */
export function commandsOf({ language, text }: Block): Command[] {
  const commands: Command[] = [];
  let command = '';
  let isOpen = false;
  for (const line of text.split('\n')) {
    const last = commands.at(-1);
    if (isOpen) command += `\n${line}`;
    else if (language === 'sh') command = line;
    else if (line.startsWith('$ ')) command = line.slice(2);
    else if (last === undefined) throw new Error(`"${line}" stands before the first command`);
    else {
      commands.splice(-1, 1, { ...last, output: `${last.output}${line}\n` });
      continue;
    }
    isOpen = isUnfinished(command);
    if (!isOpen && command.trim() !== '') commands.push({ text: command, output: '' });
  }
  if (isOpen) throw new Error(`the command has no end: ${command}`);
  return commands;
}

/** True while a shell would read another line: after a backslash, inside quotes, inside a here-document. */
function isUnfinished(command: string): boolean {
  const word = /<<'(\w+)'/.exec(command)?.[1];
  if (word !== undefined) return !command.endsWith(`\n${word}`);
  if (command.endsWith('\\')) return true;
  let quote = '';
  for (const [index, character] of [...command].entries()) {
    if (quote === '' && character === '#' && /^\s?$/.test(command[index - 1] ?? '')) return false;
    if (quote === '' ? /['"]/.test(character) : character === quote) quote = quote === '' ? character : '';
  }
  return quote !== '';
}
