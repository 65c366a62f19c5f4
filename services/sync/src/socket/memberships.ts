import { Fault } from '@wts/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupSource, KnownGroups, Reader } from '../deltas/visibility.ts';
import type { FairGate } from '../fairness/fair-gate.ts';

/** A database that was promoted a moment ago may lack the place it is asked about, until it begins its epoch. */
const RETRY_MS = 20;
const DEADLINE_MS = 5_000;

/** Reads what sockets may see, a few at a time, by turns of their people. */
export class Memberships {
  readonly #source: GroupSource;
  readonly #gate: FairGate;

  constructor(source: GroupSource, gate: FairGate) {
    this.#source = source;
    this.#gate = gate;
  }

  /** Groups that are exact up to this place at least. The signal aborts when the answer is of no use any more. */
  async read(reader: Reader, place: bigint, signal: AbortSignal): Promise<KnownGroups> {
    const { userId, workspaceId } = reader;
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const known =
        this.#source.remembered(place, userId, workspaceId) ??
        (await this.#gate.run(userId, { signal }, () => this.#source.since(place, userId, workspaceId)));
      if (known.at >= place) return known;
      if (performance.now() > deadline) {
        throw new Fault('unavailable', { cause: new Error(`memberships known up to ${known.at}, needed at ${place}`) });
      }
      await sleep(RETRY_MS);
    }
  }

  /** They changed in a way that the log does not tell. */
  forget(userId?: string): void {
    this.#source.forget(userId);
  }
}
