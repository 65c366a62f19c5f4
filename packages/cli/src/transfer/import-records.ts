import { join } from 'node:path';
import type { Change, ChangeResult } from '@wts/client';
import { changeOf, type Sent } from './change-of.ts';
import type { CheckpointFacts, CheckpointFile } from './checkpoint.ts';
import type { Refusal } from './compare-target.ts';
import { readLines } from './line-files.ts';
import type { ExportedFile } from './manifest.ts';
import { IMPORTED_MODELS, isImported, type ExportRecord } from './model-rules.ts';
import type { Progress } from '../output/progress.ts';
import { BATCH_BYTES_MAX, BATCH_CHANGES_MAX, CHANGE_BYTES, sendChanges, type SendOptions } from './send-changes.ts';
import { SkippedNumbers } from './skipped-numbers.ts';
import { targetRecord, type Mapping, type TargetRecord } from './target-record.ts';

export interface RecordImportOptions extends SendOptions {
  readonly folder: string;
  readonly files: readonly ExportedFile[];
  readonly mapping: Mapping;
  readonly keepsNumbers: boolean;
  readonly checkpoint: CheckpointFile;
  readonly progress: Progress;
}

type RefusedResult = ChangeResult & { readonly success: false };

interface RefusedChange {
  readonly one: Sent;
  readonly result: RefusedResult;
}

/** Replies whose comment was created by a server with a slower clock are before it in the file: they are sent again at its end. */
const EARLY_REPLIES_MAX = 1_000;

/** Creates the records of the files, then archives those that were archived, because nothing is created below an archived record. */
export class RecordImport {
  readonly #options: RecordImportOptions;
  #at: CheckpointFacts;
  readonly #numbers: SkippedNumbers;
  #earlyReplies: Sent[] = [];

  constructor(options: RecordImportOptions, at: CheckpointFacts) {
    this.#options = options;
    this.#at = at;
    this.#numbers = new SkippedNumbers(options.mapping.workspaceId, at.number);
  }

  /** Resolves to the checkpoint at which all changes are made or refused. */
  async run(): Promise<CheckpointFacts> {
    const { files, progress, checkpoint } = this.#options;
    const total = files.reduce((sum, { records }) => sum + records, 0);
    await checkpoint.refuse([], this.#at.refusedBytes);
    if (this.#at.stage === 'insert') {
      progress.stage('import', total);
      progress.advance(this.#at.records);
      await this.#sendFiles(filesInOrder(files), (record) => changeOf(record, 'INSERT', record.payload));
      await this.#advance({ stage: 'archive', file: 0, offset: 0, records: 0 });
    }
    const archived = filesInOrder(files)
      .toReversed()
      .filter((file) => file.archived > 0);
    progress.stage(
      'archive',
      archived.reduce((sum, file) => sum + file.archived, 0),
    );
    await this.#sendFiles(archived, (record) => (record.isArchived ? changeOf(record, 'ARCHIVE') : null));
    await this.#advance({ stage: 'check', file: 0, offset: 0, records: 0 });
    return this.#at;
  }

  /** The same for a file of changes. */
  async runPlan(path: string, total: number): Promise<CheckpointFacts> {
    const { progress, checkpoint } = this.#options;
    await checkpoint.refuse([], this.#at.refusedBytes);
    progress.stage('change', total);
    progress.advance(this.#at.records);
    await this.#sendFile(path, (text) => [JSON.parse(text) as Sent]);
    await this.#advance({ stage: 'check', file: 0, offset: 0, records: 0 });
    return this.#at;
  }

  async #sendFiles(files: readonly ExportedFile[], changed: (record: TargetRecord) => Change | null): Promise<void> {
    const { keepsNumbers, mapping } = this.#options;
    const read = (text: string): readonly Sent[] => {
      const source = JSON.parse(text) as ExportRecord;
      const record = isImported(source.__class) ? targetRecord(source.__class, source, mapping) : null;
      const change = record && changed(record);
      if (!change) return [];
      const isNumbered = keepsNumbers && change.action === 'INSERT' && record.model === 'Task';
      const skipped = isNumbered ? this.#numbers.before(Number(source['number'])) : [];
      return [...skipped, { change, record, exportId: source.id }];
    };
    for (const [index, { name }] of files.entries()) {
      if (index < this.#at.file) continue;
      await this.#sendFile(join(this.#options.folder, name), read);
      await this.#advance({ file: index + 1, offset: 0 });
    }
  }

  async #sendFile(path: string, read: (text: string) => readonly Sent[]): Promise<void> {
    let sent: Sent[] = [];
    let [end, records, number, bytes] = [this.#at.offset, this.#at.records, this.#at.number, 0];
    let sending: Promise<void> = Promise.resolve();
    // One request at a time, so that tasks are numbered in their order. The next one is prepared meanwhile.
    const flush = async (): Promise<void> => {
      await sending;
      sending = this.#sendAndAdvance(sent, { offset: end, records, number });
      // The next flush throws it.
      sending.catch(() => {});
      [sent, bytes] = [[], 0];
    };
    for await (const lines of readLines(path, this.#at.offset)) {
      for (const line of lines) {
        const length = line.end - end + CHANGE_BYTES;
        for (const one of read(line.text)) {
          if (sent.length === BATCH_CHANGES_MAX || bytes + length > BATCH_BYTES_MAX) await flush();
          sent.push(one);
          bytes += length;
        }
        end = line.end;
        records += 1;
        number = this.#numbers.last;
      }
    }
    await flush();
    await sending;
    await this.#sendEarlyReplies();
    this.#at = { ...this.#at, records };
  }

  async #sendAndAdvance(sent: readonly Sent[], facts: Partial<CheckpointFacts>): Promise<void> {
    await this.#send(sent);
    // A repeated command begins before the replies that are still to be sent.
    if (this.#earlyReplies.length === 0) await this.#advance(facts);
  }

  async #send(sent: readonly Sent[]): Promise<void> {
    const lines: string[] = [];
    const withoutRule: Sent[] = [];
    for (const { one, result } of await this.#refusedOf(sent)) {
      if (isOfRefused(one, result)) continue;
      if (isReply(one) && result.code === 'not_found' && this.#earlyReplies.length < EARLY_REPLIES_MAX)
        this.#earlyReplies.push(one);
      else {
        lines.push(refusalOf(one, result));
        if (hasRule(one) && result.code === 'validation_failed') withoutRule.push(insertedWithoutRule(one));
      }
    }
    // Its comments and its checklist need the task. It stays refused, because its rule is.
    await this.#refusedOf(withoutRule);
    this.#options.progress.advance(sent.length);
    if (lines.length > 0) await this.#refuse(lines);
  }

  async #refusedOf(sent: readonly Sent[]): Promise<readonly RefusedChange[]> {
    if (sent.length === 0) return [];
    const { results, lastSyncId } = await sendChanges(
      sent.map(({ change }) => change),
      this.#options,
    );
    if (BigInt(lastSyncId) > BigInt(this.#at.position)) this.#at = { ...this.#at, position: lastSyncId };
    return sent.flatMap((one, index) => {
      const result = results[index];
      return result === undefined || result.success ? [] : [{ one, result }];
    });
  }

  /** Sent again as long as that creates some of them. */
  async #sendEarlyReplies(): Promise<void> {
    for (let before = Infinity; this.#earlyReplies.length > 0;) {
      const replies = this.#earlyReplies;
      const isLast = replies.length === before;
      before = replies.length;
      this.#earlyReplies = [];
      for (let from = 0; from < replies.length; from += BATCH_CHANGES_MAX) {
        const part = replies.slice(from, from + BATCH_CHANGES_MAX);
        for (const { one, result } of await this.#refusedOf(part)) {
          if (isLast) await this.#refuse([refusalOf(one, result)]);
          else this.#earlyReplies.push(one);
        }
      }
    }
  }

  async #refuse(lines: readonly string[]): Promise<void> {
    const refusedBytes = await this.#options.checkpoint.refuse(lines, this.#at.refusedBytes);
    this.#at = { ...this.#at, refusedBytes };
  }

  async #advance(facts: Partial<CheckpointFacts>): Promise<void> {
    this.#at = { ...this.#at, ...facts };
    await this.#options.checkpoint.write(this.#at);
  }
}

/** The files of an import in its order. */
export function filesInOrder(files: readonly ExportedFile[]): readonly ExportedFile[] {
  return IMPORTED_MODELS.flatMap((model) => files.filter((file) => file.model === model));
}

function isReply({ record }: Sent): boolean {
  return record.model === 'Comment' && typeof record.payload['parentId'] === 'string';
}

/** A rule whose end has passed is refused in a new task. */
function hasRule({ change, record }: Sent): boolean {
  return change.action === 'INSERT' && record.model === 'Task' && record.payload['repeatRule'] !== null;
}

function insertedWithoutRule({ record, exportId }: Sent): Sent {
  const payload = { ...record.payload, repeatRule: null };
  const change = { ...changeOf(record, 'INSERT', payload), clientTxId: `${record.id}:insert-without-rule` };
  return { change, record, exportId };
}

/** A record that was refused cannot be archived, and what was deleted with its parent is deleted: both say nothing new. */
function isOfRefused({ change }: Sent, result: RefusedResult): boolean {
  return ['ARCHIVE', 'DELETE'].includes(change.action) && result.code === 'not_found';
}

function refusalOf({ record, exportId }: Sent, result: RefusedResult): string {
  const { key, model, id } = record;
  const { code = 'conflict', error } = result;
  return JSON.stringify({ key, model, id, exportId, code, error } satisfies Refusal);
}
