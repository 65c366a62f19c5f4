import { Fault } from '@wts/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Visibility } from '../deltas/visibility.ts';
import type { GroupSource, Reader } from '../deltas/visibility.ts';
import type { FairGate } from '../fairness/fair-gate.ts';

/** A database that was promoted a moment ago may lack the place it is asked about, until it begins its epoch. */
const RETRY_MS = 20;
const DEADLINE_MS = 5_000;

export interface MembershipsAt {
  readonly asked: ReadonlySet<string>;
  readonly cursor: bigint;
  readonly known: bigint;
  /** Aborts when the answer is of no use any more. */
  readonly signal: AbortSignal;
}

/** Reads what sockets may see, a few at a time, by turns of their people. */
export class Memberships {
  readonly #source: GroupSource;
  readonly #gate: FairGate;

  constructor(source: GroupSource, gate: FairGate) {
    this.#source = source;
    this.#gate = gate;
  }

  /** What may be seen right after `cursor`, by groups that are exact up to `known` at least. */
  async read(reader: Reader, { asked, cursor, known, signal }: MembershipsAt): Promise<Visibility> {
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const visibility = await this.#gate.run(reader.userId, { signal }, () =>
        Visibility.read(this.#source, reader, asked, cursor),
      );
      if (visibility.at >= known) return visibility;
      if (performance.now() > deadline) {
        throw new Fault('unavailable', {
          cause: new Error(`memberships known up to ${visibility.at}, needed at ${known}`),
        });
      }
      await sleep(RETRY_MS);
    }
  }
}
