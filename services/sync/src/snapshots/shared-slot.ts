import type { FairGate } from '@wts/service-kit/fairness';

/**
 * Waits for one slot on behalf of several people: it enters the gate once for each, and keeps the first slot that is granted.
 * So shared work starts when the first of these people would have had their turn, and the backlog of one of them does not
 * delay the others.
 */
export class SharedSlot {
  /** Rejects when all people have left or were refused by the gate. */
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

  /** Waits on behalf of this person too, until `leave`. */
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

  /** A refusal ends the wait only when it was the last person who waited. */
  #end(person: string, error: unknown): void {
    this.#waits.delete(person);
    if (this.#isOver || this.#waits.size > 0) return;
    this.#isOver = true;
    this.#settle.reject(error);
  }
}
