import type { SpanContext } from '@wts/service-kit/observe';
import type { BatchLimits, BatchUnits } from './decide-batch.ts';
import type { CommitRequest } from './request.ts';
import type { Unit } from '../decision/unit.ts';
import type { UnitResult } from './write.ts';

/** The units of one request that are in one batch. */
export interface BatchPart {
  readonly request: CommitRequest;
  readonly from: number;
  readonly count: number;
  /** The expected weight of each unit. */
  readonly weightEach: number;
}

/**
 * `shared`: of any number of people. `one-person`: of a person whose work is heavy or has failed lately, so that it does not delay
 * others. `one-request`: of a request that failed together with others or is heavy by itself.
 */
export type BatchKind = 'shared' | 'one-person' | 'one-request';

/** Parts of requests that are committed together. */
export class Batch implements BatchUnits {
  readonly kind: BatchKind;
  readonly startedAt = performance.now();
  readonly limits: BatchLimits;
  readonly parts: BatchPart[] = [];
  readonly units: Unit[] = [];
  readonly requests: number[] = [];
  readonly #unitsByPerson = new Map<string, number>();
  readonly #unitsByNetwork = new Map<string, number>();
  readonly #abandoned = new AbortController();

  constructor(kind: BatchKind, limits: BatchLimits) {
    this.kind = kind;
    this.limits = limits;
  }

  add(part: BatchPart, network: string): void {
    const { request, from, count } = part;
    for (let at = from; at < from + count; at += 1) {
      const unit = request.units[at];
      if (!unit) continue;
      this.units.push(unit);
      this.requests.push(this.parts.length);
    }
    this.parts.push(part);
    this.#unitsByPerson.set(request.person, this.unitsOf(request.person) + count);
    this.#unitsByNetwork.set(network, this.unitsOfNetwork(network) + count);
  }

  /** How many units of this person it has. */
  unitsOf(person: string): number {
    return this.#unitsByPerson.get(person) ?? 0;
  }

  unitsOfNetwork(network: string): number {
    return this.#unitsByNetwork.get(network) ?? 0;
  }

  get people(): Iterable<string> {
    return this.#unitsByPerson.keys();
  }

  /** Of the recorded requests that have units in it. */
  get traces(): SpanContext[] {
    return this.parts.flatMap(({ request: { trace } }) => trace ?? []);
  }

  /** Aborts when no client waits for the batch any more. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Aborts the batch when all its requests are over; true when this call did. */
  abandonIf(isOver: (request: CommitRequest) => boolean): boolean {
    if (this.abandoned.aborted || !this.parts.every(({ request }) => isOver(request))) return false;
    this.#abandoned.abort();
    return true;
  }

  /** How many units of each part are done: those before the first unit that waits for a later batch. */
  *settled(
    results: readonly UnitResult[],
  ): Iterable<{ part: BatchPart; first: number; done: number; isHeavy: boolean }> {
    let first = 0;
    for (const part of this.parts) {
      const own = results.slice(first, first + part.count);
      const later = own.findIndex(({ kind }) => kind === 'later');
      const postponed = own[later];
      yield {
        part,
        first,
        done: later === -1 ? part.count : later,
        isHeavy: postponed?.kind === 'later' && postponed.isHeavy,
      };
      first += part.count;
    }
  }
}
