import type { FairGate } from '../fairness/fair-gate.ts';

/**
 * One slot for all who wait for the same: it is asked for in the name of each of them, and the first that is given serves
 * all. So a work that many wait for begins when the first of them would have had their turn, and who asks along with a
 * person with a long backlog does not wait behind it.
 */
export class SharedSlot {
  /** Rejects when none is left who waits, or none whom the gate lets wait. */
  readonly slot: Promise<Disposable>;
  readonly #gate: FairGate;
  readonly #settle: PromiseWithResolvers<Disposable>;
  readonly #waits = new Map<string, AbortController>();
  #isOver = false;

  constructor(gate: FairGate) {
    this.#gate = gate;
    this.#settle = Promise.withResolvers<Disposable>();
    this.slot = this.#settle.promise;
  }

  /** Waits in the name of this person too, until `leave`. */
  join(person: string): void {
    if (this.#isOver || this.#waits.has(person)) return;
    const leaving = new AbortController();
    this.#waits.set(person, leaving);
    this.#gate.enter(person, { signal: leaving.signal }).then(
      (slot) => this.#take(person, slot),
      (error: unknown) => this.#end(person, error),
    );
  }

  leave(person: string): void {
    this.#waits.get(person)?.abort(new Error('Left while waiting'));
  }

  #take(person: string, slot: Disposable): void {
    this.#waits.delete(person);
    if (this.#isOver) {
      slot[Symbol.dispose]();
      return;
    }
    this.#isOver = true;
    for (const other of this.#waits.values()) other.abort(new Error('Served together with another'));
    this.#settle.resolve(slot);
  }

  /** Who is refused alone goes on waiting with the others. */
  #end(person: string, error: unknown): void {
    this.#waits.delete(person);
    if (this.#isOver || this.#waits.size > 0) return;
    this.#isOver = true;
    this.#settle.reject(error);
  }
}
