import { createHash } from 'node:crypto';
import type { SyncClient } from '@wts/client';
import { LineSorter, type SortedLine } from './line-sorter.ts';
import { isImported, type ExportRecord } from './model-rules.ts';
import type { Progress } from '../output/progress.ts';
import { findWorkspace, readWorkspace } from './read-workspace.ts';
import { comparedBy, differencesOf, type TargetRecord } from './target-record.ts';

/** Why the server did not make a change. */
export interface Refusal {
  /** As that of the target record. */
  readonly key: string;
  readonly model: string;
  /** In the target. */
  readonly id: string;
  /** In the export. */
  readonly exportId: string;
  readonly code: string;
  readonly error: string;
}

/** A record that is in the target differently. */
export interface Difference {
  readonly model: string;
  readonly id: string;
  readonly fields: readonly string[];
}

export interface Comparison {
  /** In the target as in the export, by model. */
  readonly equal: Readonly<Record<string, number>>;
  /** Not in the target and not refused, by model. */
  readonly missing: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly differencesTotal: number;
  readonly refusedTotal: number;
  /** Of the tasks that are equal, how many have the number that they had. */
  readonly sameNumbers: number;
  /** Over all records that are on both sides, by the fields that an import sets. */
  readonly sha256: { readonly export: string; readonly target: string };
}

export interface CompareOptions {
  readonly sync: SyncClient;
  /** The id of the target. */
  readonly target: string;
  /** Of the last change. */
  readonly firstSyncId: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Sees each refusal that stands: what is in the target after all is not refused. */
  readonly onRefusal: (refusal: Refusal) => Promise<void>;
}

const DIFFERENCES_MAX = 20;
const EXPECTED = '0';
const REFUSED = '1';

/**
 * Compares the records that an import makes with those that the target has, in bounded memory: both are sorted by what names them and
 * read side by side. Records of the target that are not of the import are passed over.
 */
export class TargetComparison implements AsyncDisposable {
  readonly #expected = LineSorter.temporary();
  readonly #stored = LineSorter.temporary();

  async expect(record: TargetRecord, number: unknown): Promise<void> {
    await this.#expected.add(`${record.key}\v${EXPECTED}`, JSON.stringify({ record, number }));
  }

  async refuse(refusal: Refusal): Promise<void> {
    await this.#expected.add(`${refusal.key}\v${REFUSED}`, JSON.stringify(refusal));
  }

  async compare({ sync, target, progress, onRefusal, ...options }: CompareOptions): Promise<Comparison> {
    progress.stage('check');
    // Its private projects may be of this import.
    const found = await findWorkspace(sync, target, options);
    await readWorkspace(
      sync,
      found,
      {
        begin: () => this.#stored[Symbol.asyncDispose](),
        take: async (record) => {
          progress.advance(1);
          if (isImported(record.__class))
            await this.#stored.add(comparedBy(record.__class, record), JSON.stringify(record));
        },
      },
      options,
    );
    const tally = new Tally(onRefusal);
    const stored = this.#stored.sorted();
    let at = await next(stored);
    for await (const { record, number, refusal } of this.#records((refusal) => tally.refuse(refusal))) {
      while (at !== null && at.key < record.key) at = await next(stored);
      await tally.add({
        record,
        number,
        refusal,
        stored: at?.key === record.key ? (JSON.parse(at.text) as ExportRecord) : null,
      });
    }
    return tally.comparison;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#expected[Symbol.asyncDispose]();
    await this.#stored[Symbol.asyncDispose]();
  }

  /** Each record once, also where two memberships became one, with its refusal. */
  async *#records(onRefusal: CompareOptions['onRefusal']): AsyncGenerator<ExpectedRecord> {
    let current: ExpectedRecord | null = null;
    for await (const { key, text } of this.#expected.sorted()) {
      const [name, kind] = key.split('\v');
      if (current !== null && current.record.key === name) {
        if (kind === REFUSED) current.refusal = JSON.parse(text) as Refusal;
      } else if (kind === EXPECTED) {
        if (current !== null) yield current;
        current = { ...(JSON.parse(text) as Omit<ExpectedRecord, 'refusal'>), refusal: null };
      } else {
        // Of a record that should not be there any more.
        await onRefusal(JSON.parse(text) as Refusal);
      }
    }
    if (current !== null) yield current;
  }
}

async function next(lines: AsyncGenerator<SortedLine>): Promise<SortedLine | null> {
  const line = await lines.next();
  return line.done === true ? null : line.value;
}

interface ExpectedRecord {
  readonly record: TargetRecord;
  readonly number: unknown;
  refusal: Refusal | null;
}

interface Compared extends Readonly<ExpectedRecord> {
  readonly stored: ExportRecord | null;
}

/** The comparison with a workspace that is still to be created. */
export function comparisonWithNothing(missing: Comparison['missing']): Comparison {
  return { ...new Tally(async () => {}).comparison, missing };
}

/** What the comparison has found so far. */
class Tally {
  readonly #onRefusal: CompareOptions['onRefusal'];
  readonly #hashes = { export: createHash('sha256'), target: createHash('sha256') };
  readonly #equal: Record<string, number> = {};
  readonly #missing: Record<string, number> = {};
  readonly #differences: Difference[] = [];
  readonly #totals = { differences: 0, refused: 0, sameNumbers: 0 };

  constructor(onRefusal: CompareOptions['onRefusal']) {
    this.#onRefusal = onRefusal;
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#totals.refused += 1;
    await this.#onRefusal(refusal);
  }

  async add({ record, number, refusal, stored }: Compared): Promise<void> {
    const { model, id, payload } = record;
    const fields = stored === null ? [] : differencesOf(record, stored);
    if (refusal !== null && (stored === null || fields.length > 0)) return this.refuse(refusal);
    if (stored === null) {
      this.#missing[model] = (this.#missing[model] ?? 0) + 1;
      return;
    }
    const values = Object.entries(payload);
    const written = (part: readonly unknown[]): string => `${record.key} ${JSON.stringify(part)}\n`;
    this.#hashes.export.update(written(values.map(([, value]) => value)));
    this.#hashes.target.update(written(values.map(([name, value]) => (fields.includes(name) ? stored[name] : value))));
    if (fields.length > 0) {
      this.#totals.differences += 1;
      if (this.#differences.length < DIFFERENCES_MAX) this.#differences.push({ model, id, fields });
      return;
    }
    this.#equal[model] = (this.#equal[model] ?? 0) + 1;
    if (model === 'Task' && stored['number'] === number) this.#totals.sameNumbers += 1;
  }

  get comparison(): Comparison {
    return {
      equal: this.#equal,
      missing: this.#missing,
      differences: this.#differences,
      differencesTotal: this.#totals.differences,
      refusedTotal: this.#totals.refused,
      sameNumbers: this.#totals.sameNumbers,
      sha256: { export: this.#hashes.export.digest('hex'), target: this.#hashes.target.digest('hex') },
    };
  }
}
