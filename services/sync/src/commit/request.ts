import { Fault } from '@wts/contracts';
import type { QueueEntry } from '@wts/service-kit/fairness';
import { activeTrace, type SpanContext } from '@wts/service-kit/observe';
import { personOf, type Unit, type UnitOutcome } from '../decision/unit.ts';

export interface CommitOptions {
  /** Aborts when the client has disconnected: the request is dropped, or cancelled if no other request is in its batch. */
  readonly signal?: AbortSignal;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs?: number;
}

/** Bytes of a mutation besides the text of its payload. */
const MUTATION_BYTES = 200;

/**
 * One call of the engine: units that are applied in this order. While other people wait, several batches take parts of it, one after
 * the other. Keeps sync.mutate.order.
 */
export class CommitRequest {
  readonly person: string;
  readonly units: readonly Unit[];
  readonly deadlineMs: number;
  readonly bytes: number;
  readonly admittedAt = performance.now();
  /** A step of a sweep, which does the rest of a deletion or a move that is too large for one commit. */
  readonly isSweep: boolean;
  /** True when it failed together with others, or is heavy. */
  needsOwnBatch: boolean;
  /** How many units batches have taken; the others wait. */
  unitsTaken = 0;
  /** Of the recorded request that it is part of. */
  readonly trace: SpanContext | null = activeTrace();
  /** Its entry in the queue while it waits. */
  entry: QueueEntry<CommitRequest> | null = null;
  readonly #settled = Promise.withResolvers<UnitOutcome[]>();
  readonly #outcomes: UnitOutcome[] = [];
  #settledUnits = 0;
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
    this.needsOwnBatch = this.isSweep;
    this.bytes = units.reduce((sum, unit) => sum + bytesOf(unit), 0);
    this.#signal = signal;
  }

  get outcomes(): Promise<UnitOutcome[]> {
    return this.#settled.promise;
  }

  get authority(): Unit['authority'] | undefined {
    return this.units[0]?.authority;
  }

  /** How many units wait. */
  get unitsLeft(): number {
    return this.units.length - this.unitsTaken;
  }

  /** Resolved or rejected. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The client has disconnected. The engine polls this, because a listener on the signal would keep each request in memory until a full garbage collection. */
  get isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Adds the outcomes of a part that begins at this unit. A later part may be first, while an earlier one reads the log. */
  addOutcomes(from: number, outcomes: readonly UnitOutcome[]): void {
    for (const [index, outcome] of outcomes.entries()) this.#outcomes[from + index] = outcome;
    this.#settledUnits += outcomes.length;
    if (this.#settledUnits < this.units.length) return;
    this.#isSettled = true;
    this.#settled.resolve(this.#outcomes);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.#settled.reject(error);
  }

  /** Rejects for a client that has disconnected. */
  rejectAborted(): void {
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
