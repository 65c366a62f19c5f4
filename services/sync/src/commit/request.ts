import { Fault } from '@wts/contracts';
import type { QueueEntry } from '../fairness/fair-queue.ts';
import { personOf, type Unit, type UnitOutcome } from './unit.ts';

export interface CommitOptions {
  /** Aborts when the client is gone: what has not begun never begins, what nobody waits for any more is cancelled. */
  readonly signal?: AbortSignal;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs?: number;
}

/** Bytes of a mutation beside the text of its payload. */
const MUTATION_BYTES = 200;

/**
 * What one call of the engine asks for: units that are applied in this order, never overtaking each other. While others
 * wait it is done in several parts, one after the other. Keeps sync.mutate.order.
 */
export class CommitRequest {
  readonly person: string;
  readonly units: readonly Unit[];
  readonly deadlineMs: number;
  readonly bytes: number;
  /** A step of a sweep: behind a deletion or a move that was too much for one commit. */
  readonly isSweep: boolean;
  /** Has failed beside others, or is much: it goes in batches of its own. */
  isAlone: boolean;
  /** Units that went out in batches; those behind them wait. */
  taken = 0;
  /** While it waits. */
  entry: QueueEntry<CommitRequest> | null = null;
  readonly #answer = Promise.withResolvers<UnitOutcome[]>();
  readonly #outcomes: UnitOutcome[] = [];
  #given = 0;
  readonly #signal: AbortSignal | undefined;
  #isSettled = false;

  constructor(
    units: readonly Unit[],
    { signal, deadlineMs }: { readonly signal: AbortSignal | undefined; readonly deadlineMs: number },
  ) {
    this.units = units;
    this.person = units[0] ? personOf(units[0]) : '';
    this.deadlineMs = deadlineMs;
    this.isSweep = units.some(({ step }) => step !== undefined);
    this.isAlone = this.isSweep;
    this.bytes = units.reduce((sum, unit) => sum + bytesOf(unit), 0);
    this.#signal = signal;
  }

  get answer(): Promise<UnitOutcome[]> {
    return this.#answer.promise;
  }

  get authority(): Unit['authority'] | undefined {
    return this.units[0]?.authority;
  }

  /** Units that wait. */
  get rest(): number {
    return this.units.length - this.taken;
  }

  /** Answered or refused. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Its client is gone. The engine polls this: a listener on the signal would keep each request until a full garbage collection. */
  get isGone(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Of a part that begins at this unit. A later part may come first: an earlier one may wait for entries of the log. */
  give(from: number, outcomes: readonly UnitOutcome[]): void {
    for (const [index, outcome] of outcomes.entries()) this.#outcomes[from + index] = outcome;
    this.#given += outcomes.length;
    if (this.#given < this.units.length) return;
    this.#isSettled = true;
    this.#answer.resolve(this.#outcomes);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.#answer.reject(error);
  }

  /** Rejects for a client that is gone. */
  rejectGone(): void {
    this.reject(new Fault('unavailable', { cause: this.#signal?.reason }));
  }
}

function bytesOf({ mutations }: Unit): number {
  let bytes = 0;
  for (const { payload } of mutations) {
    bytes += MUTATION_BYTES;
    for (const name in payload) {
      const value = payload[name];
      if (typeof value === 'string') bytes += value.length;
      else if (Array.isArray(value)) bytes += value.length * 40;
    }
  }
  return bytes;
}
