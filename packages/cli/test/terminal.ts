import { spawn, type IPty } from '@lydell/node-pty';
import assert from 'node:assert/strict';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../src/main.ts');
/** Longer than a busy machine needs. */
const WAIT_MS = 30_000;

/** Runs a program as a shell does, and then prints its exit code, and whether the terminal is as it was before. */
const SHELL = `trap : INT
before=$(stty -g)
"$@"
code=$?
[ "$before" = "$(stty -g)" ] && echo "[ended $code]" || echo "[ended $code, and left the terminal in another state]"`;

export interface TerminalOptions {
  /** All of the environment but for PATH. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Default: the command line. */
  readonly program?: readonly string[];
}

export const WTS: readonly string[] = [process.execPath, MAIN];

/** A person at a real terminal, in which one command runs. */
export class Terminal implements Disposable {
  readonly #pty: IPty;
  #text = '';

  constructor(argv: readonly string[], options: TerminalOptions = {}) {
    const { env = {}, columns = 80, rows = 24, cwd = '/', program = WTS } = options;
    const own = { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...env };
    const args = ['-c', SHELL, 'sh', ...program, ...argv];
    this.#pty = spawn('/bin/sh', args, { cols: columns, rows, cwd, env: own });
    this.#pty.onData((piece) => (this.#text += piece));
  }

  /** All that was written, with the ends of lines of a file. */
  get text(): string {
    return this.#text.replaceAll('\r\n', '\n');
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** What the command has written when this is in it. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const endMs = performance.now() + WAIT_MS;
    for (;;) {
      const found = pattern.exec(this.text);
      if (found !== null) return found;
      if (performance.now() > endMs) assert.fail(`no ${String(pattern)} in ${JSON.stringify(this.text)}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  /** What was written to the end, after which the terminal must be as it was. */
  async end(): Promise<{ readonly code: number; readonly text: string }> {
    const { index, 1: code } = await this.until(/\[ended (\d+)\]\n/);
    return { code: Number(code), text: this.text.slice(0, index) };
  }

  [Symbol.dispose](): void {
    this.#pty.kill('SIGKILL');
  }
}
