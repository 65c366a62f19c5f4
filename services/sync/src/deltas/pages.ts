import type { Fault } from '@wts/contracts';
import type { GroupCache, Standby } from '@wts/read-model';
import { FairQuota, tooManyAnswers, type NetworkOf, type QuotaHold } from '@wts/service-kit/fairness';
import type { Reads } from '../fairness/reads.ts';
import type { WaitMetrics } from '../metrics.ts';
import { deltasSources, readDeltas, type DeltasRequest } from './read-deltas.ts';
import { SYNC_LIMITS } from '../limits.ts';

export interface DeltasPage extends Disposable {
  /** The JSON text of a `DeltasReply`. */
  readonly bytes: Buffer;
}

const LARGE = { isLarge: true };

interface PagesOptions {
  readonly reads: Reads;
  readonly groupCache: GroupCache;
  readonly standby: Standby | null;
  readonly metrics: WaitMetrics;
  readonly networkOf: NetworkOf;
}

/**
 * Reads pages of the log for pollers. People take turns for connections, and a page counts against its person until its client
 * has received it, because clients that request large pages and do not read them must not fill the memory.
 */
export class Pages {
  readonly #options: PagesOptions;
  readonly #held: FairQuota;

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#held = new FairQuota(SYNC_LIMITS.pagesBytesMax, options);
  }

  get bytes(): number {
    return this.#held.total;
  }

  /** The caller must dispose of the page after sending it. */
  async read(request: DeltasRequest, signal: AbortSignal): Promise<DeltasPage> {
    const { reads, groupCache, standby } = this.#options;
    const { userId } = request;
    // Refused before it waits, because without quota the page could not be held afterwards.
    if (!this.#held.admits(userId, SYNC_LIMITS.deltasBytesMax)) throw this.#refusal();
    let held: QuotaHold | undefined;
    try {
      const bytes = await reads.run(
        userId,
        signal,
        async (database) => {
          held = this.#held.hold(userId, SYNC_LIMITS.deltasBytesMax);
          if (held === undefined) throw this.#refusal();
          return Buffer.from(await readDeltas(deltasSources(database, standby, groupCache), request));
        },
        LARGE,
      );
      held?.resize(bytes.length);
      return { bytes, [Symbol.dispose]: () => held?.[Symbol.dispose]() };
    } catch (error) {
      held?.[Symbol.dispose]();
      throw error;
    }
  }

  /** How long a client may receive nothing before its connection is closed. */
  stalledMs(userId: string): number {
    return this.#held.stalledMs(userId);
  }

  #refusal(): Fault {
    this.#options.metrics.onRefused();
    return tooManyAnswers();
  }
}
