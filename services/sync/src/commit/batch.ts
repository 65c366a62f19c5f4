import type { BatchUnits, Room } from './decide-batch.ts';
import type { CommitRequest } from './request.ts';
import type { Unit } from './unit.ts';
import type { UnitResult } from './write.ts';

/** Of one request, what goes in one batch. */
export interface Part {
  readonly request: CommitRequest;
  readonly from: number;
  readonly count: number;
  /** What each unit was expected to weigh. */
  readonly weightEach: number;
}

/**
 * `common`: of any number of people. `apart`: of one person whose work is heavy or failed lately, so that it does not hold
 * up others. `alone`: of one request, which failed beside others or is much by itself.
 */
export type BatchKind = 'common' | 'apart' | 'alone';

/** Parts of requests that are committed together. */
export class Batch implements BatchUnits {
  readonly kind: BatchKind;
  readonly startedAt = performance.now();
  readonly room: Room;
  readonly parts: Part[] = [];
  readonly units: Unit[] = [];
  readonly requests: number[] = [];
  readonly #taken = new Map<string, number>();
  readonly #abandoned = new AbortController();

  constructor(kind: BatchKind, room: Room) {
    this.kind = kind;
    this.room = room;
  }

  add(part: Part): void {
    const { request, from, count } = part;
    for (let at = from; at < from + count; at += 1) {
      const unit = request.units[at];
      if (!unit) continue;
      this.units.push(unit);
      this.requests.push(this.parts.length);
    }
    this.parts.push(part);
    this.#taken.set(request.person, this.taken(request.person) + count);
  }

  /** Units of this person in it. */
  taken(person: string): number {
    return this.#taken.get(person) ?? 0;
  }

  get people(): Iterable<string> {
    return this.#taken.keys();
  }

  /** Aborts when nobody waits for any of it any more. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** True when nobody waits for it. */
  abandonIf(isOver: (request: CommitRequest) => boolean): boolean {
    if (this.abandoned.aborted || !this.parts.every(({ request }) => isOver(request))) return false;
    this.#abandoned.abort();
    return true;
  }

  /** The outcomes of each part, up to the first unit that has to wait for a later batch. */
  *settled(outcomes: readonly UnitResult[]): Iterable<{ part: Part; first: number; done: number; isHeavy: boolean }> {
    let first = 0;
    for (const part of this.parts) {
      const own = outcomes.slice(first, first + part.count);
      const later = own.findIndex(({ kind }) => kind === 'later');
      const waits = own[later];
      yield {
        part,
        first,
        done: later === -1 ? part.count : later,
        isHeavy: waits?.kind === 'later' && waits.isHeavy,
      };
      first += part.count;
    }
  }
}
