import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { WakeSignal, chunkBytes, pause } from '@wts/log/stream';
import type { Logger } from '@wts/log';
import type { Pool } from 'pg';
import { eventOf, storedEvent, type StoredEvent } from '../domain/event.ts';
import {
  enqueue,
  findServed,
  moveCursor,
  readCursor,
  type Cursor,
  type ParkedEntry,
  type Step,
} from '../store/enqueue.ts';
import type { EnqueueMetrics } from './metrics.ts';

export interface StepsOptions {
  readonly pool: Pool;
  /** Where the cursor is. */
  readonly cursor: Cursor;
  readonly onEnqueued: (endpointIds: readonly string[]) => void;
  readonly metrics: EnqueueMetrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** What waits while a step is being written. Above it the log is read no further. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** Of one step: small enough for a statement of some milliseconds, which other replicas wait for. */
const STEP_ENTRIES_MAX = 500;
const STEP_BYTES_MAX = 1024 * 1024;
/** Entries without events move the cursor this often. */
const SAVE_MS = 1_000;
const RETRY_MS = 250;
/** An entry that PostgreSQL refuses is parked after so many tries. */
const TRIES_MAX = 3;
const TRY_AGAIN_MS = 50;
const REASON_MAX = 500;
/** Workspaces known to have endpoints. Those that no longer have any are removed with the others. */
const KNOWN_MAX = 10_000;
const KNOWN_MS = 10 * 60_000;

/** The cursor is moved by another replica. */
class CursorMoved extends Error {
  override name = 'CursorMoved';
}

/**
 * Writes the entries that `consume` delivers, step by step: at once when idle, and together what arrived while the step
 * before was being written.
 *
 * Bodies are made only for workspaces that are known to have endpoints. That is no cache that could be stale: every step
 * names the other workspaces that have events in it, and is refused when one of them has an endpoint by now.
 */
export class Steps {
  readonly #options: StepsOptions;
  readonly #news = new WakeSignal();
  #waiting: EntryChunk[] = [];
  #waitingBytes = 0;
  #roomFor: (() => void) | null = null;
  /** Where the cursor is in PostgreSQL. */
  #saved: bigint;
  /** How far entries were dealt with; those behind `#saved` had no event. */
  #passed: bigint;
  #savedAt = performance.now();
  #known = new Set<string>();
  #knownSince = performance.now();
  #isFailing = false;

  constructor(options: StepsOptions) {
    this.#options = options;
    this.#saved = this.#passed = options.cursor.position;
  }

  get passed(): bigint {
    return this.#passed;
  }

  /** Takes what `consume` delivers; resolves when there is room for more. */
  async take(chunk: EntryChunk): Promise<void> {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunkBytes(chunk);
    this.#options.metrics.behind.set(Number(BigInt(chunk.last) - this.#passed));
    this.#news.notify();
    await this.#room();
  }

  /** Continues behind entries that were trimmed before they were read. */
  async skipTo(floor: bigint): Promise<bigint> {
    const { signal, pool, metrics, logger, cursor } = this.#options;
    while (this.#waitingBytes > 0 && !signal.aborted) await pause(RETRY_MS, signal);
    if (signal.aborted) return floor;
    logger.error(
      { from: this.#passed.toString(), to: floor.toString() },
      'entries of the log were dropped before they became events: their webhooks are lost',
    );
    metrics.trimmed.inc(Number(floor - this.#passed));
    this.#passed = floor;
    await moveCursor(pool, { epoch: cursor.epoch, from: this.#saved, to: floor });
    this.#saved = floor;
    return floor;
  }

  /** Writes until the signal aborts. Rejects when the cursor is moved by another replica. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const wake = (): void => {
      this.#news.notify();
      this.#roomFor?.();
    };
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        const chunks = this.#next();
        if (chunks.length === 0) {
          if (!(await this.#news.wait(SAVE_MS))) await this.#save();
          continue;
        }
        await this.#write(chunks.flatMap(({ actions }) => actions));
        this.#done(chunks);
        if (performance.now() - this.#savedAt >= SAVE_MS) await this.#save();
      }
    } finally {
      signal.removeEventListener('abort', wake);
      this.#roomFor?.();
    }
  }

  async #room(): Promise<void> {
    while (this.#waitingBytes > WAITING_BYTES_MAX && !this.#options.signal.aborted) {
      await new Promise<void>((resolve) => (this.#roomFor = resolve));
    }
  }

  /** What the next step is made of; at least one chunk when any waits. */
  #next(): readonly EntryChunk[] {
    let [count, bytes, entries] = [0, 0, 0];
    for (const chunk of this.#waiting) {
      bytes += chunkBytes(chunk);
      entries += chunk.actions.length;
      if (count > 0 && (bytes > STEP_BYTES_MAX || entries > STEP_ENTRIES_MAX)) break;
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }

  #done(chunks: readonly EntryChunk[]): void {
    this.#waiting = this.#waiting.slice(chunks.length);
    for (const chunk of chunks) this.#waitingBytes -= chunkBytes(chunk);
    const last = BigInt(this.#waiting.at(-1)?.last ?? this.#passed);
    this.#options.metrics.behind.set(Number(last - this.#passed));
    this.#roomFor?.();
  }

  /** Tries until it is done. What PostgreSQL refuses for its content is cut in halves, and parked when it is one entry. */
  async #write(entries: readonly StoredEntry[], refusal: string | null = null): Promise<void> {
    const { signal } = this.#options;
    for (let tries = 1; !signal.aborted;) {
      try {
        await this.#step(entries, refusal);
        this.#recovered();
        return;
      } catch (error) {
        if (error instanceof CursorMoved) throw error;
        if (signal.aborted) return;
        const reason = refusal === null ? reasonOf(error) : null;
        if (reason === null) {
          this.#warn(error);
          await pause(RETRY_MS, signal);
        } else if (entries.length > 1) {
          const middle = Math.ceil(entries.length / 2);
          await this.#write(entries.slice(0, middle));
          return this.#write(entries.slice(middle));
        } else if (tries < TRIES_MAX) {
          tries += 1;
          await pause(TRY_AGAIN_MS, signal);
        } else {
          return this.#write(entries, reason);
        }
      }
    }
  }

  async #step(entries: readonly StoredEntry[], refusal: string | null): Promise<void> {
    const { pool, metrics, onEnqueued } = this.#options;
    const step = this.#stepOf(entries, refusal);
    if (step.events.length + step.parked.length + step.deletedWorkspaces.length === 0) {
      const served = step.otherWorkspaces.length === 0 ? [] : await findServed(pool, step.otherWorkspaces);
      if (served.length > 0) return this.#stepAgain(entries, refusal, served);
      this.#passed = step.to;
      return;
    }
    const result = await enqueue(pool, step);
    if (result.kind === 'incomplete') return this.#stepAgain(entries, refusal, result.workspaceIds);
    if (result.kind === 'moved') return this.#settle(step.to);
    this.#setCursor(step.to);
    // Without the reason, which may have a piece of the record in it.
    for (const { position } of step.parked)
      this.#options.logger.error({ position }, 'an entry of the log became no event: see webhooks.parked_entries');
    metrics.parked.inc(step.parked.length);
    metrics.events.inc(step.events.length);
    metrics.deliveries.inc(result.deliveries);
    const [first] = step.events;
    if (first !== undefined) metrics.delaySeconds.observe(Math.max(0, Date.now() - Date.parse(first.createdAt)) / 1000);
    if (result.endpointIds.length > 0) onEnqueued(result.endpointIds);
  }

  #stepAgain(entries: readonly StoredEntry[], refusal: string | null, served: readonly string[]): Promise<void> {
    for (const workspaceId of served) this.#known.add(workspaceId);
    return this.#step(entries, refusal);
  }

  #stepOf(entries: readonly StoredEntry[], refusal: string | null): Step {
    this.#clearKnown();
    const events: StoredEvent[] = [];
    const parked: ParkedEntry[] = [];
    const others = new Set<string>();
    const deleted: string[] = [];
    for (const entry of entries) {
      try {
        if (refusal !== null) throw new Error(refusal);
        if (entry.modelName === 'Workspace' && entry.action === 'DELETE') deleted.push(entry.modelId);
        const event = eventOf(entry);
        if (event === null) continue;
        if (!this.#known.has(event.workspaceId)) {
          others.add(event.workspaceId);
          continue;
        }
        events.push(storedEvent(event));
      } catch (error) {
        parked.push({ position: entry.syncId, reason: textOf(error), entry: jsonOf(entry) });
      }
    }
    const to = BigInt(entries.at(-1)?.syncId ?? this.#passed);
    const { epoch } = this.#options.cursor;
    return { epoch, from: this.#saved, to, events, parked, otherWorkspaces: [...others], deletedWorkspaces: deleted };
  }

  #clearKnown(): void {
    if (this.#known.size <= KNOWN_MAX && performance.now() - this.#knownSince < KNOWN_MS) return;
    this.#known = new Set();
    this.#knownSince = performance.now();
  }

  /** An answer that got lost may have been that of the same step. */
  async #settle(to: bigint): Promise<void> {
    const { pool, cursor } = this.#options;
    const stored = await readCursor(pool);
    if (stored?.epoch !== cursor.epoch || stored.position !== to)
      throw new CursorMoved(`the cursor of webhooks is moved by another replica: it is at ${stored?.position}`);
    this.#setCursor(to);
  }

  async #save(): Promise<void> {
    const { pool, cursor } = this.#options;
    const [from, to] = [this.#saved, this.#passed];
    if (from === to) return;
    try {
      if (await moveCursor(pool, { epoch: cursor.epoch, from, to })) this.#setCursor(to);
      else await this.#settle(to);
    } catch (error) {
      if (error instanceof CursorMoved) throw error;
      this.#warn(error);
    }
  }

  #setCursor(position: bigint): void {
    this.#saved = this.#passed = position;
    this.#savedAt = performance.now();
  }

  #warn(error: unknown): void {
    const { logger, signal } = this.#options;
    if (!this.#isFailing && !signal.aborted) logger.warn({ err: error }, 'events cannot be written; trying again');
    this.#isFailing = true;
  }

  #recovered(): void {
    if (this.#isFailing) this.#options.logger.info({ position: this.#passed.toString() }, 'events are written again');
    this.#isFailing = false;
  }
}

/** Data exceptions, broken constraints, exceeded limits: the content is what is wrong. Null for all else. */
function reasonOf(error: unknown): string | null {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(?:22|23|54)[0-9A-Z]{3}$/.test(code) ? `${code} ${textOf(error)}` : null;
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX);
}

function jsonOf(entry: StoredEntry): string {
  try {
    return JSON.stringify(entry);
  } catch {
    // Nested too deeply to be written; the log still has it.
    return JSON.stringify({ ...entry, data: null, record: null });
  }
}
