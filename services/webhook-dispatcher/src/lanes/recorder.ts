import { isRetryableSqlState, faultOfSqlState } from '@wts/service-kit/postgres';
import type { Logger } from '@wts/service-kit/observe';
import { FairQueue, mayTakeMore } from '@wts/service-kit/fairness';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Recorded } from '../store/outcomes.ts';
import { isOfNewPartition } from '../store/partitions.ts';

/** An outcome that waits for PostgreSQL; its times are of this process's monotonic clock. */
export type SettledOutcome = Omit<Outcome, 'startedAgoMs' | 'settledAgoMs'> & {
  readonly startedMs: number;
  readonly settledMs: number;
};

/**
 * `ignored`: the outcome counted for nothing, because it was recorded before, or the lane belongs to another replica.
 * `refused`: PostgreSQL does not take it at all, so the delivery is as it was before the attempt.
 */
export type Recording = 'recorded' | 'ignored' | 'refused';

interface Waiting {
  outcome: SettledOutcome;
  /** True when `outcome` is only a part, because PostgreSQL refused the whole of it. */
  isReduced: boolean;
  readonly onRecorded: (recording: Recording) => void;
  isDone: boolean;
}

interface RecorderOptions {
  readonly write: (outcomes: readonly Outcome[]) => Promise<Recorded>;
  readonly onWritten: (recorded: Recorded) => void;
  /** Called when there is room again for attempts of these owners. */
  readonly onRoom: (ownerIds: ReadonlySet<string>) => void;
  readonly atOnce: number;
  readonly max: number;
  /** From the end of a batch to the next one, when that would not be full: each statement has a cost of its own. */
  readonly gatherMs: number;
  readonly retryMs: number;
  readonly log: Logger;
}

/**
 * Records outcomes in batches: at once when none is being written, together with what gathered meanwhile otherwise. While
 * PostgreSQL is away they are kept, up to a bound; the lanes begin no attempt beyond it. Owners of workspaces take turns, and
 * none fills it alone.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #waiting = new FairQueue<Waiting>();
  #batch: Waiting[] = [];
  #writing: Promise<void> | null = null;
  /** Owners who had no room. */
  readonly #held = new Set<string>();
  #isFailing = false;
  #isGivingUp = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get depth(): number {
    return this.#waiting.size + this.#batch.length;
  }

  /** Whether there is room for the outcome of one more attempt of this owner. */
  hasRoom(ownerId: string): boolean {
    const hasRoom = !this.#held.has(ownerId) && this.#mayAdd(ownerId, 1);
    if (!hasRoom) this.#held.add(ownerId);
    return hasRoom;
  }

  add(ownerId: string, outcome: SettledOutcome, onRecorded: (recording: Recording) => void): void {
    this.#waiting.push(ownerId, { outcome, isReduced: false, onRecorded, isDone: false });
    this.#writing ??= this.#writeAll();
  }

  /** So many times what the owner has. */
  #mayAdd(ownerId: string, times: number): boolean {
    return mayTakeMore(this.#waiting.of(ownerId).size * times, this.#options.max - this.depth);
  }

  /** Resolves when everything is written, or when the time is over: what is not written then is attempted again. */
  async finish(deadlineMs: number): Promise<void> {
    const timer = setTimeout(() => (this.#isGivingUp = true), deadlineMs);
    await this.#writing;
    clearTimeout(timer);
    const { depth } = this;
    if (depth > 0)
      this.#options.log.warn(
        { outcomes: depth },
        'outcomes of attempts could not be recorded before the end; these deliveries are repeated',
      );
  }

  async #writeAll(): Promise<void> {
    // What settles in the same turn of the event loop is written together.
    await Promise.resolve();
    while (this.depth > 0 && !this.#isGivingUp) {
      await this.#writeBatch();
      if (this.#waiting.size < this.#options.atOnce) await sleep(this.#options.gatherMs);
    }
    // In the same turn as the last check of the queue, because an outcome added in between would wait for the next one.
    this.#writing = null;
  }

  async #writeBatch(): Promise<void> {
    const { atOnce, retryMs } = this.#options;
    while (this.#batch.length < atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#batch.push(next.item);
    }
    if (!(await this.#write(this.#batch))) {
      await sleep(retryMs);
      return;
    }
    this.#batch = [];
    this.#makeRoom();
  }

  /** From half of the bound on, because otherwise each batch would wake all lanes of the owner for a few attempts. */
  #makeRoom(): void {
    const ownerIds = new Set([...this.#held].filter((ownerId) => this.#mayAdd(ownerId, 2)));
    if (ownerIds.size === 0) return;
    for (const ownerId of ownerIds) this.#held.delete(ownerId);
    this.#options.onRoom(ownerIds);
  }

  /** False when PostgreSQL is away or refused for a reason of the moment. */
  async #write(all: readonly Waiting[]): Promise<boolean> {
    const { write, onWritten, log } = this.#options;
    const batch = all.filter(({ isDone }) => !isDone);
    try {
      const recorded = await write(batch.map(({ outcome }) => countedBack(outcome)));
      if (this.#isFailing) log.info({}, 'outcomes of attempts are recorded again');
      this.#isFailing = false;
      onWritten(recorded);
      for (const one of batch) done(one, recorded.deliveryIds.has(one.outcome.deliveryId) ? 'recorded' : 'ignored');
      return true;
    } catch (err) {
      if (isRetryableSqlState(err) || isOfNewPartition(err)) return false;
      if (faultOfSqlState(err)?.code === 'unavailable') {
        if (!this.#isFailing)
          log.warn({ err }, 'outcomes of attempts cannot be recorded; they are kept meanwhile. Check PostgreSQL');
        this.#isFailing = true;
        return false;
      }
      return this.#writeInParts(batch, err);
    }
  }

  /**
   * Something in the batch is refused for good: the halves are tried. What is refused alone is written without what the
   * endpoint answered, and left out when that is refused too.
   */
  async #writeInParts(batch: readonly Waiting[], err: unknown): Promise<boolean> {
    const [only, ...more] = batch;
    if (more.length > 0) {
      const half = Math.ceil(batch.length / 2);
      const isFirstWritten = await this.#write(batch.slice(0, half));
      return isFirstWritten && (await this.#write(batch.slice(half)));
    }
    if (only === undefined) return true;
    const { deliveryId } = only.outcome;
    if (only.isReduced) {
      this.#options.log.error({ err, deliveryId }, 'the outcome of an attempt is refused; the attempt is repeated');
      done(only, 'refused');
      return true;
    }
    this.#options.log.error({ err, deliveryId }, 'the outcome of an attempt is refused; it is recorded in short');
    only.outcome = reduced(only.outcome);
    only.isReduced = true;
    return this.#write([only]);
  }
}

function done(waiting: Waiting, recording: Recording): void {
  waiting.isDone = true;
  waiting.onRecorded(recording);
}

/** A success stays one, because the consumer has the event. */
function reduced(outcome: SettledOutcome): SettledOutcome {
  return { ...outcome, snippet: null, error: outcome.error === null ? null : 'invalid_response' };
}

function countedBack({ startedMs, settledMs, ...outcome }: SettledOutcome): Outcome {
  const nowMs = performance.now();
  return { ...outcome, startedAgoMs: nowMs - startedMs, settledAgoMs: nowMs - settledMs };
}
