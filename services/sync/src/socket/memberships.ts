import { Fault } from '@wts/contracts';
import { poll, type GroupSource, type GroupsWithGains, type Reader } from '@wts/read-model';
import type { FairGate } from '../fairness/fair-gate.ts';

/** A database that was promoted a moment ago may lack the position it is asked about, until it begins its epoch. */
const PATIENCE = { everyMs: 20, timeoutMs: 5_000 } as const;

/** Reads what sockets may see, a few at a time, by turns of their people. */
export class Memberships {
  readonly #source: GroupSource;
  readonly #gate: FairGate;

  constructor(source: GroupSource, gate: FairGate) {
    this.#source = source;
    this.#gate = gate;
  }

  /** Groups that are exact up to this position at least. The signal aborts when the answer is of no use any more. */
  async read(reader: Reader, position: bigint, signal: AbortSignal): Promise<GroupsWithGains> {
    const { userId, workspaceId } = reader;
    const known = await poll(async () => {
      const found =
        this.#source.cached(position, userId, workspaceId) ??
        (await this.#gate.run(userId, { signal }, () => this.#source.since(position, userId, workspaceId)));
      return found.at >= position ? found : null;
    }, PATIENCE);
    if (known === null)
      throw new Fault('unavailable', { cause: new Error(`memberships are not known up to ${position}`) });
    return known;
  }

  /** They changed in a way that the log does not tell. */
  forget(userId?: string): void {
    this.#source.invalidate(userId);
  }
}
