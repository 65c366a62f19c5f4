import { Fault } from '@wts/contracts';
import { poll, type GroupSource, type GroupsWithGains, type Reader } from '@wts/read-model';
import type { FairGate } from '@wts/service-kit/fairness';

/** A standby that was promoted a moment ago may be behind the requested position until it starts its epoch. */
const PATIENCE = { everyMs: 20, timeoutMs: 5_000 } as const;

/** Reads the groups of people for sockets; people take turns. */
export class GroupReads {
  readonly #source: GroupSource;
  readonly #gate: FairGate;

  constructor(source: GroupSource, gate: FairGate) {
    this.#source = source;
    this.#gate = gate;
  }

  /** Reads groups that are exact up to this position at least. The signal aborts the wait for a turn. */
  async read(reader: Reader, position: bigint, signal: AbortSignal): Promise<GroupsWithGains> {
    const { userId, workspaceId } = reader;
    const known = await poll(async () => {
      const found =
        this.#source.cached(position, userId, workspaceId) ??
        (await this.#gate.run(userId, { signal }, () => this.#source.since(position, userId, workspaceId)));
      return found.at >= position ? found : null;
    }, PATIENCE);
    if (known === null)
      throw new Fault('unavailable', { cause: new Error(`the groups are not readable up to ${position}`) });
    return known;
  }

  /** Drops cached groups after a change that is not in the log. */
  invalidate(userId?: string): void {
    this.#source.invalidate(userId);
  }
}
