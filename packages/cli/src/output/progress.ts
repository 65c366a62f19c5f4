import { safeLine } from './safe-text.ts';

/** What work that takes long reports while it runs. */
export interface Progress {
  /** A new stage begins. Without a total, only the amount is known. */
  stage(name: string, total?: number): void;
  /** More records of the stage are done. */
  advance(records: number): void;
  /** Something that people should know, such as a lost connection. */
  note(text: string): void;
}

/** `bar`: one line of a terminal that changes. `lines`: a line every ten seconds. `jsonl`: one JSON record a second. */
export type ProgressForm = 'bar' | 'lines' | 'jsonl' | 'none';

const EVERY_MS: Readonly<Record<ProgressForm, number>> = { bar: 100, lines: 10_000, jsonl: 1_000, none: Infinity };
const BAR_CELLS = 20;
const CLEAR = '\r\u001B[2K';

export interface ProgressOptions {
  readonly form: ProgressForm;
  readonly write: (text: string) => void;
  /** A bar that the terminal cuts into two lines would not be taken away as a whole. */
  readonly columns?: number;
  /** In milliseconds. */
  readonly clock: () => number;
}

/** Shows the progress when something of it changes, and not more often than its form allows. */
export class ShownProgress implements Progress, Disposable {
  readonly #options: ProgressOptions;
  #stage = '';
  #total: number | null = null;
  #done = 0;
  #beganMs = 0;
  #shownMs = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  stage(name: string, total?: number): void {
    const now = this.#options.clock();
    this.#stage = name;
    this.#total = total ?? null;
    this.#done = 0;
    this.#beganMs = now;
    this.#shownMs = now;
    if (this.#options.form === 'bar' || this.#options.form === 'jsonl') this.#show(now);
  }

  advance(records: number): void {
    this.#done += records;
    const now = this.#options.clock();
    if (now - this.#shownMs < EVERY_MS[this.#options.form]) return;
    this.#shownMs = now;
    this.#show(now);
  }

  note(text: string): void {
    const { form, write } = this.#options;
    if (form === 'jsonl') write(`${JSON.stringify({ note: text })}\n`);
    else if (form !== 'none') write(`${form === 'bar' ? CLEAR : ''}${safeLine(text)}\n`);
  }

  /** Removes the bar, because the result follows. */
  [Symbol.dispose](): void {
    if (this.#options.form === 'bar' && this.#stage !== '') this.#options.write(CLEAR);
    this.#stage = '';
  }

  #show(now: number): void {
    const { form, write, columns } = this.#options;
    const [stage, done, total] = [this.#stage, this.#done, this.#total];
    const seconds = (now - this.#beganMs) / 1000;
    const perSecond = seconds > 0 ? Math.round(done / seconds) : 0;
    if (form === 'jsonl') return write(`${JSON.stringify({ stage, done, total, perSecond })}\n`);
    const words = [`${stage}: ${amount(done)}${total === null ? '' : ` of ${amount(total)}`}`];
    if (perSecond > 0) words.push(`${amount(perSecond)}/s`);
    if (perSecond > 0 && total !== null) words.push(`${restOf((total - done) / perSecond)} left`);
    const text = words.join(', ');
    if (form === 'lines') return write(`${text}\n`);
    const line = `${total === null || total === 0 ? '' : barOf(Math.min(1, done / total))}${text}`;
    write(`${CLEAR}${line.slice(0, columns && columns - 1)}`);
  }
}

function barOf(share: number): string {
  const cells = Math.floor(share * BAR_CELLS);
  return `[${'#'.repeat(cells)}${'-'.repeat(BAR_CELLS - cells)}] `;
}

function amount(count: number): string {
  return count.toLocaleString('en-US');
}

function restOf(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.ceil(seconds))} s`;
  return `${Math.ceil(seconds / 60)} min`;
}
