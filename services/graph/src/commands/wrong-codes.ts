import { BoundedMap } from '@wts/access';
import { Fault, LIMITS } from '@wts/contracts';

/** A minute that begins with the first attempt. */
interface Window {
  readonly endsAtMs: number;
  wrong: number;
}

const WINDOW_MS = 60_000;
const PEOPLE_MAX = 10_000;
/** What the workspace service answers to a code that is not one for the person. */
const WRONG: readonly number[] = [403, 404, 410];

/**
 * Bounds the wrong invitation codes of each person in each process. The gateway does it for REST, but does not see the codes in GraphQL. An attempt
 * counts when it begins, so that parallel ones count too, and is taken back when it did not fail. Keeps limits.rate.codes.
 */
export class WrongCodes {
  readonly #windows = new BoundedMap<string, Window>(PEOPLE_MAX);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async attempt<T>(userId: string, join: () => Promise<T>): Promise<T> {
    const now = this.#now();
    let window = this.#windows.get(userId);
    if (window === undefined || window.endsAtMs <= now) {
      window = { endsAtMs: now + WINDOW_MS, wrong: 0 };
      this.#windows.set(userId, window);
    }
    if (window.wrong >= LIMITS.wrongCodesPerMinuteMax) {
      throw new Fault('rate_limited', { retryAfterSeconds: Math.ceil((window.endsAtMs - now) / 1000) });
    }
    window.wrong += 1;
    try {
      const joined = await join();
      window.wrong -= 1;
      return joined;
    } catch (failure) {
      if (!isOfTheCode(failure)) window.wrong -= 1;
      throw failure;
    }
  }
}

/** A credential without the scope of the operation says nothing about the code. */
function isOfTheCode(failure: unknown): boolean {
  return failure instanceof Fault && WRONG.includes(failure.status) && failure.code !== 'insufficient_scope';
}
