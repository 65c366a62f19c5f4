import { LIMITS } from '@wts/contracts';
import { FairGate, type NetworkOf } from '@wts/service-kit/fairness';
import { GRAPH_LIMITS } from '../limits.ts';

/**
 * Runs work that nothing can interrupt and that takes up to tens of milliseconds: parsing and validating a new document, and
 * answering an introspection. One piece at a time, people in turn, and between two pieces the event loop serves everything else. It
 * also learns there who has disconnected, and their work never begins; nor does work whose deadline passed while it waited.
 * Keeps graphql.limit.loop.
 */
export class LongTurns {
  readonly #gate: FairGate;

  constructor(networkOf: NetworkOf) {
    this.#gate = new FairGate({
      slots: 1,
      networkOf,
      waitMs: LIMITS.graphDeadlineMs,
      waitingMax: GRAPH_LIMITS.documentsWaitingMax,
      refusal: 'Too many new documents are being read',
    });
  }

  /** Rejects with the signal's reason, or with `unavailable`. What `work` awaits is not part of its turn. */
  async run<T>(person: string, signal: AbortSignal, work: () => T): Promise<Awaited<T>> {
    const slot = await this.#gate.enter(person, { signal });
    setImmediate(() => slot[Symbol.dispose]());
    signal.throwIfAborted();
    return await work();
  }
}
