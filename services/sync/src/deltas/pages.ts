import { comeAgainSeconds, Fault, LIMITS } from '@wts/contracts';
import { type GroupCache, GroupReader, type Standby, pageReader } from '@wts/read-model';
import { Holdings, type Held } from '../fairness/holdings.ts';
import type { Reads } from '../fairness/reads.ts';
import type { WaitMetrics } from '../metrics.ts';
import { readDeltas, type DeltasQuestion } from './read-deltas.ts';

export interface DeltasPage extends Disposable {
  /** The JSON text of a `DeltasReply`. */
  readonly bytes: Buffer;
}

const LARGE = { isLarge: true };

interface PagesOptions {
  readonly reads: Reads;
  readonly memory: GroupCache;
  readonly standby: Standby | null;
  readonly metrics: WaitMetrics;
}

/**
 * Pages of the log for those who poll. Connections are taken by turns of persons, and a page counts against its person
 * until its client has taken it: a hundred who ask for large pages and do not read them must not fill the memory.
 */
export class Pages {
  readonly #options: PagesOptions;
  readonly #held = new Holdings(LIMITS.pagesBytesMax);

  constructor(options: PagesOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#held.total;
  }

  /** It must be disposed of when it was sent. */
  async read(question: DeltasQuestion, signal: AbortSignal): Promise<DeltasPage> {
    const { reads, memory, standby } = this.#options;
    const { userId } = question;
    // Before it waits too: there is no use in a turn with nothing to hold the page.
    if (!this.#held.admits(userId, LIMITS.deltasBytesMax)) throw this.#refusal();
    let held: Held | undefined;
    try {
      const bytes = await reads.run(
        userId,
        signal,
        async (database) => {
          held = this.#held.hold(userId, LIMITS.deltasBytesMax);
          if (held === undefined) throw this.#refusal();
          const sources = { groups: new GroupReader(database, memory), readPage: pageReader(database, standby) };
          return Buffer.from(await readDeltas(sources, question));
        },
        LARGE,
      );
      held?.become(bytes.length);
      return { bytes, [Symbol.dispose]: () => held?.[Symbol.dispose]() };
    } catch (error) {
      held?.[Symbol.dispose]();
      throw error;
    }
  }

  /** How long a client who takes nothing is waited for. */
  patienceMs(userId: string): number {
    return this.#held.isTight(userId) ? LIMITS.answerStalledTightMs : LIMITS.answerStalledMs;
  }

  #refusal(): Fault {
    this.#options.metrics.onRefused();
    return new Fault('unavailable', {
      message: 'Too many answers are waiting for you to read them; read them, or try again shortly',
      retryAfterSeconds: comeAgainSeconds(),
    });
  }
}
