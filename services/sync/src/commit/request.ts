import { Fault } from '@wts/contracts';
import type { Entry } from '../fairness/fair-queue.ts';
import type { Batch } from './batch.ts';
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
  readonly answer: Promise<UnitOutcome[]>;
  /** A step of a sweep: behind a deletion or a move that was too much for one commit. */
  readonly isSweep: boolean;
  /** Has failed beside others, or is much: it goes in batches of its own. */
  isAlone: boolean;
  /** Units that went out in batches; those behind them wait. */
  taken = 0;
  /** While it waits. */
  entry: Entry<CommitRequest> | null = null;
  /** While a part of it is under way. */
  batch: Batch | null = null;
  readonly #outcomes: UnitOutcome[] = [];
  #given = 0;
  readonly #signal: AbortSignal | undefined;
  readonly #onGone: () => void;
  #isSettled = false;
  #resolve!: (outcomes: UnitOutcome[]) => void;
  #reject!: (error: unknown) => void;

  constructor(
    units: readonly Unit[],
    { signal, deadlineMs }: { readonly signal: AbortSignal | undefined; readonly deadlineMs: number },
    onGone: (request: CommitRequest) => void,
  ) {
    this.units = units;
    this.person = units[0] ? personOf(units[0]) : '';
    this.deadlineMs = deadlineMs;
    this.isSweep = units.some(({ step }) => step !== undefined);
    this.isAlone = this.isSweep;
    this.bytes = units.reduce((sum, unit) => sum + bytesOf(unit), 0);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#signal = signal;
    this.#onGone = () => {
      this.reject(new Fault('unavailable', { cause: signal?.reason }));
      onGone(this);
    };
    signal?.addEventListener('abort', this.#onGone, { once: true });
  }

  get authority(): Unit['authority'] | undefined {
    return this.units[0]?.authority;
  }

  /** Units that wait. */
  get rest(): number {
    return this.units.length - this.taken;
  }

  /** Answered, refused, or its client is gone: nothing more is done for it. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Of a part that begins at this unit. A later part may come first: an earlier one may wait for entries of the log. */
  give(from: number, outcomes: readonly UnitOutcome[]): void {
    for (const [index, outcome] of outcomes.entries()) this.#outcomes[from + index] = outcome;
    this.#given += outcomes.length;
    if (this.#given === this.units.length) this.#settle(() => this.#resolve(this.#outcomes));
  }

  reject(error: unknown): void {
    this.#settle(() => this.#reject(error));
  }

  #settle(answer: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#signal?.removeEventListener('abort', this.#onGone);
    answer();
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
