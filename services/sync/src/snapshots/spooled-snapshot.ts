import { addAbortListener } from 'node:events';
import { randomRetryAfterSeconds, Fault } from '@wts/contracts';
import type { PersonGroups, Selection } from '@wts/read-model';
import type { Pool } from 'pg';
import type { LineSink } from '../store/copy-rows.ts';
import { SnapshotTransaction, SnapshotTooOld } from '../store/snapshot-transaction.ts';
import type { FairGate, LoopTurns } from '@wts/service-kit/fairness';
import { Deflater, type Content } from './gzip.ts';
import type { SnapshotMetrics } from './metrics.ts';
import { Spool, SpoolFull, type SpoolReader, type SpoolBudget } from './spool.ts';
import { SharedSlot } from './shared-slot.ts';

export type Encoding = 'identity' | 'gzip';

export interface SnapshotPlan {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly encoding: Encoding;
  /** Chooses the database when the slot is granted. */
  readonly pool: (signal: AbortSignal) => Promise<Pool>;
  /** Chooses what to read, given the person's groups in the snapshot. What it throws, every reader gets. */
  readonly select: (person: PersonGroups) => readonly Selection[];
  /** The line after the last record. */
  readonly ending?: (rows: number) => string;
}

export interface SnapshotTools {
  readonly gate: FairGate;
  readonly turns: LoopTurns;
  readonly budget: SpoolBudget;
  readonly metrics: SnapshotMetrics;
  readonly onFailure: (error: unknown) => void;
}

/** A reader, and the person it counts for. */
export interface SnapshotReader extends SpoolReader {
  readonly person: string;
}

/**
 * Copies one database snapshot into a spool, for any number of readers. It starts when the gate gives a slot to the first of
 * the people who wait for it, and counts for the person who opened it while they read it, then for another reader. When its
 * last reader leaves early, its connection is closed, because nothing else stops a COPY of PostgreSQL immediately.
 */
export class SpooledSnapshot {
  /** The person's groups and the head, in the snapshot. Rejects when it could not be opened. */
  readonly opened: Promise<PersonGroups>;
  /** Resolves when nothing more will be read; never rejects. */
  readonly done: Promise<void>;
  readonly encoding: Encoding;
  openedAt: number | null = null;
  /** Set at the end. */
  content: Content = { crc: 0, bytes: 0 };
  #state: 'running' | 'finished' | 'failed' = 'running';
  #isKept = false;
  readonly #spool: Spool;
  readonly #slot: SharedSlot;
  readonly #readers = new Set<SnapshotReader>();
  readonly #abort = new AbortController();
  readonly #tools: SnapshotTools;

  constructor(plan: SnapshotPlan, tools: SnapshotTools) {
    this.#tools = tools;
    this.encoding = plan.encoding;
    this.#spool = new Spool(tools.budget, plan.userId);
    this.#slot = new SharedSlot(tools.gate);
    this.#slot.join(plan.userId);
    const { promise, resolve, reject } = Promise.withResolvers<PersonGroups>();
    this.opened = promise;
    this.opened.catch(ignore);
    this.done = this.#run(plan, resolve).catch((error: unknown) => {
      this.#state = 'failed';
      reject(error);
      this.#spool.fail(error instanceof Error ? error : new Error('Reading a snapshot failed', { cause: error }));
      this.#disposeIfUnused();
    });
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** The person it counts for. */
  get person(): string {
    return this.#spool.person;
  }

  /** How long a client may receive nothing before its connection is closed. */
  get stalledMs(): number {
    return this.#tools.budget.stalledMs(this.person);
  }

  /** False when its beginning is no longer stored, or it failed or is being aborted: a new reader would get half an answer. */
  get isShareable(): boolean {
    return this.#spool.isWhole && this.#state !== 'failed' && !this.#abort.signal.aborted;
  }

  join(person: string): SnapshotReader {
    const reader = Object.assign(this.#spool.join(), { person });
    this.#readers.add(reader);
    this.#slot.join(person);
    return reader;
  }

  leave(reader: SnapshotReader): void {
    this.#spool.leave(reader);
    if (!this.#readers.delete(reader)) return;
    if (!this.#readers.values().some(({ person }) => person === reader.person)) this.#release(reader.person);
    if (this.#readers.size === 0 && this.#state === 'running') this.#abort.abort(new Error('All readers have left'));
    this.#disposeIfUnused();
  }

  /** This person has no reader left. */
  #release(person: string): void {
    this.#slot.leave(person);
    const [other] = this.#readers;
    if (other !== undefined && person === this.#spool.person) this.#spool.passTo(other.person);
  }

  /** Called before bytes are sent to this reader; returns a promise when they must wait. */
  turn({ person }: Pick<SnapshotReader, 'person'>, bytes: number): Promise<void> | undefined {
    return this.#tools.turns.take(person, bytes);
  }

  read(reader: SpoolReader): Buffer | null | Promise<Buffer | null> {
    return this.#spool.read(reader);
  }

  /** Keeps the spool without readers until `evict`, for later equal requests. */
  keep(): void {
    this.#isKept = true;
  }

  evict(): void {
    this.#isKept = false;
    this.#disposeIfUnused();
  }

  #disposeIfUnused(): void {
    const isOver = this.#state !== 'running';
    if (isOver && this.#readers.size === 0 && !(this.#isKept && this.isShareable)) void this.#spool.dispose();
  }

  async #run(plan: SnapshotPlan, opened: (person: PersonGroups) => void): Promise<void> {
    const { metrics } = this.#tools;
    const { signal } = this.#abort;
    using _slot = await this.#slot.slot;
    signal.throwIfAborted();
    const pool = await plan.pool(signal);
    signal.throwIfAborted();
    const seconds = metrics.start();
    {
      await using snapshot = await SnapshotTransaction.open(pool, plan.userId, plan.workspaceId);
      using _aborting = addAbortListener(signal, () => snapshot.destroy(signal.reason as Error));
      signal.throwIfAborted();
      const selections = plan.select(snapshot.person);
      this.openedAt = performance.now();
      opened(snapshot.person);
      metrics.end(await this.#copy(plan, snapshot, selections), seconds);
    }
    this.#state = 'finished';
    this.#spool.finish();
    this.#disposeIfUnused();
  }

  #inTurns(sink: LineSink): LineSink {
    return {
      write: (lines) => {
        const turn = this.#tools.turns.take(this.person, lines.length);
        const taken = sink.write(lines);
        return turn && taken ? taken.then(() => turn) : (turn ?? taken);
      },
    };
  }

  async #copy(plan: SnapshotPlan, snapshot: SnapshotTransaction, selections: readonly Selection[]): Promise<number> {
    using deflater = this.encoding === 'gzip' ? new Deflater(this.#spool) : null;
    const sink: LineSink = deflater ?? this.#spool;
    let rows: number;
    try {
      rows = await snapshot.copy(selections, this.#inTurns(sink));
      // Releases the connection before the rest is written.
      await snapshot.close();
      if (plan.ending) await sink.write(Buffer.from(`${plan.ending(rows)}\n`));
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#tools.onFailure(error);
      await sink.write(Buffer.from(`${JSON.stringify({ type: 'error', message: explain(error) })}\n`));
      await deflater?.end();
      throw error;
    }
    await deflater?.end();
    if (deflater) this.content = deflater.content;
    return rows;
  }
}

/** The fault for a person with too many answers or too large ones, or when all people together have. */
export function tooManySnapshots(metrics: SnapshotMetrics): Fault {
  metrics.onRefused();
  return new Fault('unavailable', {
    message: 'Too many snapshots are being read; finish reading yours, or try again shortly',
    retryAfterSeconds: randomRetryAfterSeconds(),
  });
}

/** The text of the error line, by which clients recognize an incomplete answer. */
function explain(error: unknown): string {
  if (error instanceof SnapshotTooOld || error instanceof SpoolFull)
    return 'There is too much to load at once; load it in parts, by onlyModels or syncGroups';
  return 'Loading broke off; load again';
}

function ignore(): void {}
