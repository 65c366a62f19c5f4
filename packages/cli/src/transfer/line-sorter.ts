import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { LineWriter, onDisk, readLines } from './line-files.ts';

/** Lines in memory before they become a sorted file. */
const RUN_CHARS = 8 * 1024 * 1024;

/** A line with the text that orders it, which has no tab. */
export interface SortedLine {
  readonly key: string;
  readonly text: string;
}

/** Sorts any number of lines by their keys in bounded memory: sorted runs on the disk are merged. After a disposal it is empty. */
export class LineSorter implements AsyncDisposable {
  readonly #folder: string;
  readonly #runChars: number;
  #lines: SortedLine[] = [];
  #chars = 0;
  #runs = 0;

  /** Its files are in the temporary folder of the system. */
  static temporary(runChars?: number): LineSorter {
    return new LineSorter(join(tmpdir(), `wts-sort-${randomUUID()}`), runChars);
  }

  constructor(folder: string, runChars = RUN_CHARS) {
    this.#folder = folder;
    this.#runChars = runChars;
  }

  async add(key: string, text: string): Promise<void> {
    this.#lines.push({ key, text });
    this.#chars += key.length + text.length;
    if (this.#chars >= this.#runChars) await this.#spill();
  }

  /** All lines in ascending order of their keys. */
  async *sorted(): AsyncGenerator<SortedLine> {
    if (this.#runs === 0) return yield* this.#take();
    await this.#spill();
    const runs = await Promise.all(Array.from({ length: this.#runs }, (_, run) => Run.open(this.#path(run))));
    const open: Run[] = [];
    for (const run of runs) insert(open, run);
    for (let least = open.shift(); least; least = open.shift()) {
      // Lines arrive nearly in order, so many of one run follow each other.
      const bound = open[0]?.first?.key;
      while (least.first !== null && (bound === undefined || least.first.key <= bound)) {
        yield least.first;
        if (!least.step()) await least.read();
      }
      insert(open, least);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#take();
    this.#runs = 0;
    await rm(this.#folder, { recursive: true, force: true });
  }

  #take(): readonly SortedLine[] {
    const lines = this.#lines.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
    this.#lines = [];
    this.#chars = 0;
    return lines;
  }

  async #spill(): Promise<void> {
    if (this.#runs === 0) await onDisk(this.#folder, () => makeFolder(this.#folder));
    await using writer = await LineWriter.open(this.#path(this.#runs));
    this.#runs += 1;
    for (const { key, text } of this.#take()) await writer.write(`${key}\t${text}`);
    await writer.close({ isKept: false });
  }

  #path(run: number): string {
    return join(this.#folder, `run-${run}`);
  }
}

/** Keeps the runs in the order of their next lines; one at its end is left out. */
function insert(open: Run[], run: Run): void {
  if (run.first === null) return;
  const { key } = run.first;
  let [from, to] = [0, open.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((open[middle]?.first?.key ?? '') < key) from = middle + 1;
    else to = middle;
  }
  open.splice(from, 0, run);
}

/** The place in one sorted file. */
class Run {
  readonly #parts: AsyncGenerator<readonly { readonly text: string }[]>;
  #part: readonly { readonly text: string }[] = [];
  #at = 0;

  static async open(path: string): Promise<Run> {
    const run = new Run(path);
    await run.read();
    return run;
  }

  private constructor(path: string) {
    this.#parts = readLines(path);
  }

  /** The next line; null at the end. */
  first: SortedLine | null = null;

  /** Goes on within the part in memory; false at its end. */
  step(): boolean {
    const line = this.#part[this.#at];
    if (line === undefined) return false;
    this.#at += 1;
    const tab = line.text.indexOf('\t');
    this.first = { key: line.text.slice(0, tab), text: line.text.slice(tab + 1) };
    return true;
  }

  async read(): Promise<void> {
    const next = await this.#parts.next();
    this.first = null;
    if (next.done === true) return;
    this.#part = next.value;
    this.#at = 0;
    this.step();
  }
}
