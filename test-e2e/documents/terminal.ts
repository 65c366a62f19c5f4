import { launch, type RunningProcess } from '@wts/local';
import { eventually } from '@wts/testkit';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';
import { shapeOf } from './shape.ts';

const PRINTS_WITHIN_MS = 120_000;
const STOPS_WITHIN_MS = 30_000;

/** A program of a terminal with what it has printed. */
export class Program {
  readonly #process: RunningProcess;

  constructor(process: RunningProcess) {
    this.#process = process;
  }

  get output(): string {
    return readFileSync(this.#process.log, 'utf8');
  }

  /** Resolves when it has printed text of this shape; rejects when it ends without it. */
  async prints(text: string): Promise<void> {
    const shape = shapeOf(text);
    const seen = (): boolean => shape.test(this.output);
    await eventually(() => seen() || this.#process.exit, { deadlineMs: PRINTS_WITHIN_MS }).catch(() => undefined);
    if (!seen()) throw new Error(`${this.#process.name}\nprinted\n${this.output}\ninstead of\n${text}`);
  }

  /** Resolves to the exit code. */
  async ends(): Promise<number | null> {
    const { code } = await eventually(() => this.#process.exit, { deadlineMs: PRINTS_WITHIN_MS });
    return code;
  }

  /** Ctrl-C: a terminal sends SIGINT to every process of the command. */
  async interrupt(): Promise<void> {
    if (this.#process.exit === null) process.kill(-this.#process.pid, 'SIGINT');
    await eventually(() => this.#process.exit, { deadlineMs: STOPS_WITHIN_MS });
  }
}

/** A shell in which commands see the variables and functions of the commands before. */
export class Terminal {
  readonly #place: Place;
  readonly #files: string;
  readonly #env: NodeJS.ProcessEnv;
  #count = 0;

  /** `files` is a directory for the output of the commands. */
  constructor(place: Place, files: string, env: NodeJS.ProcessEnv) {
    this.#place = place;
    this.#files = files;
    this.#env = { ...env, TERMINAL_STATE: join(files, 'state') };
  }

  run(command: string): Promise<Program> {
    return this.#start(command, `${command}\ncode=$?\n{ export -p; declare -f; } > "$TERMINAL_STATE"\nexit $code`);
  }

  /** For a command that runs until it is interrupted. */
  start(command: string): Promise<Program> {
    return this.#start(command, `exec ${command}`);
  }

  async #start(command: string, script: string): Promise<Program> {
    this.#count += 1;
    const { folder, enter } = this.#place;
    const shell = ['bash', '-c', `cd '${folder}'\ntouch "$TERMINAL_STATE"\n. "$TERMINAL_STATE"\n${script}`];
    const [program = '', ...args] = [...enter, ...shell];
    const process = await launch({
      name: command,
      command: program,
      args,
      env: this.#env,
      log: join(this.#files, `${this.#count}.log`),
    });
    return new Program(process);
  }
}
