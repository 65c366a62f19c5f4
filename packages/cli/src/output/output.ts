import { usageFault, type CliFault } from '../fault.ts';
import type { Io } from '../io.ts';
import { formOf, type Form } from './form.ts';
import { linkText } from './links.ts';
import { lookOf, styled, type Look } from './look.ts';
import { isLong, NOT_FOUND, pagerCommand, pagerOf } from './pager.ts';
import { safeJson, safeLine, safeText } from './safe-text.ts';
import type { Detail, View } from './view.ts';
import { Writer } from './writer.ts';

/** How a changed record is named. `line` says what happened to it, for a person. */
export interface ChangedRecord {
  readonly id: string;
  readonly key: string;
  readonly line: string;
}

/**
 * Prints what commands give it, in the form that the caller chose: data to stdout, everything else to stderr.
 * Keeps cli.output.streams, cli.output.json.
 */
export class Output {
  readonly look: Look;
  readonly form: Form;
  /** Aborts when the reader of the output is gone, or when it cannot be written, with that as the reason. */
  readonly gone: AbortSignal;
  readonly #io: Io;
  readonly #out: Writer;
  readonly #err: Writer;
  #fields: readonly string[] = [];

  constructor(argv: readonly string[], io: Io) {
    const chosen = formOf(argv, io.isTty.stdout);
    const gone = new AbortController();
    this.#io = io;
    this.form = chosen.form;
    this.look = lookOf(io, chosen);
    this.gone = gone.signal;
    this.#out = new Writer(io.stdout, gone, io.interrupted);
    this.#err = new Writer(io.stderr, new AbortController(), io.interrupted);
  }

  get isJson(): boolean {
    return this.form === 'json' || this.form === 'ndjson';
  }

  /** The fields that the caller chose; all that the command has where they chose none. */
  fields(all: readonly string[]): readonly string[] {
    return this.#fields.length === 0 ? all : this.#fields;
  }

  /** `--json id,title`. Throws a fault with the names of all fields when one of them does not exist. */
  choose(fields: string | undefined, all: readonly string[]): void {
    const chosen = (fields ?? '').split(',').filter((name) => name !== '');
    const unknown = chosen.find((name) => !all.includes(name));
    if (unknown !== undefined && all.length === 0) throw usageFault('--json has no fields to choose from here.');
    if (unknown !== undefined)
      throw usageFault(`There is no field ${JSON.stringify(unknown)}.`, `The fields: ${all.join(', ')}`);
    this.#fields = chosen;
  }

  /** Records of one kind. */
  async list<Row extends object>(rows: readonly Row[], view: View<Row>): Promise<void> {
    if (this.form === 'json') return this.#json(rows.map((row) => this.#chosen(row)));
    if (this.form === 'ndjson') {
      for (const row of rows) await this.#out.write(`${safeJson(this.#chosen(row))}\n`);
      return;
    }
    if (this.form === 'ids') return this.#out.write(rows.map((row) => `${view.id(row)}\n`).join(''));
    const { tableText, tabText } = await import('./table.ts');
    if (this.form === 'tabs') return this.#out.write(tabText(rows, view.columns));
    if (rows.length === 0) return this.note(`No ${view.nouns[1]}.`);
    return this.pages(tableText(rows, view.columns, this.look));
  }

  /** One record with its facts. */
  async record(row: object, id: string, details: readonly Detail[]): Promise<void> {
    if (this.isJson) return this.#json(this.#chosen(row));
    if (this.form === 'ids') return this.#out.write(`${id}\n`);
    const { detailsText } = await import('./details.ts');
    const text = detailsText(details, this.look, this.form === 'table');
    return this.form === 'table' ? this.pages(text) : this.#out.write(text);
  }

  /** The record that a command changed. */
  async changed(row: object, named: ChangedRecord): Promise<void> {
    if (this.form === 'json') return this.#json(this.#chosen(row));
    return this.changedAll([row], () => named);
  }

  /** Of a command that takes several, so that its JSON is a list also for one. */
  async changedAll<Row extends object>(rows: readonly Row[], namedOf: (row: Row) => ChangedRecord): Promise<void> {
    if (this.form === 'json') return this.#json(rows.map((row) => this.#chosen(row)));
    for (const row of rows) {
      const { id, key, line } = namedOf(row);
      if (this.form === 'ndjson') await this.#out.write(`${safeJson(this.#chosen(row))}\n`);
      else if (this.form === 'ids') await this.#out.write(`${id}\n`);
      else if (this.form === 'tabs') await this.#out.write(`${id}\t${safeLine(key)}\n`);
      else await this.#out.write(`${safeLine(line)}\n`);
    }
  }

  /** One record of a stream, as soon as it is there. */
  async item(row: object, id: string): Promise<void> {
    await this.#out.write(`${this.isJson ? safeJson(this.#chosen(row)) : id}\n`);
  }

  /** One line of a stream that is no table: its values, separated by tabs for a pipe. */
  async line(values: readonly string[]): Promise<void> {
    const shown = values.map((value) => safeLine(value)).filter((value) => this.form === 'tabs' || value !== '');
    await this.#out.write(`${shown.join(this.form === 'tabs' ? '\t' : '  ')}\n`);
  }

  /** A value of the API as it is. */
  async value(value: unknown): Promise<void> {
    if (this.form === 'ndjson' && Array.isArray(value)) {
      for (const one of value) await this.#out.write(`${safeJson(one)}\n`);
      return;
    }
    return this.#json(value);
  }

  /** A text of this program. */
  text(text: string): Promise<void> {
    return this.#out.write(text);
  }

  /** A text of this program, which a pager shows when it is longer than the terminal. */
  async pages(text: string): Promise<void> {
    const pager = pagerOf(this.#io);
    if (!this.look.isTerminal || pager === null || !isLong(text, this.#io)) return this.#out.write(text);
    const code = await this.#io.launch(pagerCommand(pager), { input: text }).catch(() => NOT_FOUND);
    if (code === NOT_FOUND) await this.#out.write(text);
  }

  /** A line beside the data, for a person. Texts of people in it are made safe. */
  async note(text: string): Promise<void> {
    if (!this.isJson && this.form !== 'ids') await this.#say(`${safeText(text)}\n`);
  }

  /** A line that also a script should see. */
  async warn(text: string): Promise<void> {
    await this.#say(`${safeText(text)}\n`);
  }

  /** A text that asks a person to open an address, which is below it. */
  async address(text: string, address: string): Promise<void> {
    await this.#say(`${safeText(text)}\n\n  ${linkText(address, this.#io)}\n\n`);
  }

  async fault({ message, hint, requestId, code }: CliFault): Promise<void> {
    const isReported = requestId !== undefined;
    if (this.isJson) {
      const error = { code, message, hint: hint ?? null, requestId: requestId ?? null };
      return this.#say(`${safeJson({ error })}\n`);
    }
    const look = { isColored: this.look.isColored && this.#io.isTty.stderr };
    const lines = [
      styled(safeText(message), 'red', look),
      ...(hint === undefined ? [] : [safeText(hint)]),
      ...(isReported ? [styled(`Request id: ${safeLine(requestId)}`, 'dim', look)] : []),
    ];
    return this.#say(lines.map((line) => `${line}\n`).join(''));
  }

  /** Resolves when everything is written. */
  written(): Promise<void> {
    return this.#out.written();
  }

  close(): void {
    this.#out.close();
    this.#err.close();
  }

  /** Where the reader of stderr is gone, the exit code still says what happened. */
  #say(text: string): Promise<void> {
    return this.#err.write(text).catch(() => undefined);
  }

  #json(value: unknown): Promise<void> {
    return this.#out.write(`${safeJson(value, this.form === 'ndjson' ? undefined : 2)}\n`);
  }

  #chosen(row: object): object {
    if (this.#fields.length === 0) return row;
    const fields = row as Readonly<Record<string, unknown>>;
    return Object.fromEntries(this.#fields.map((name) => [name, fields[name] ?? null]));
  }
}
