/** Retries may be this share of calls. */
const SHARE = 0.1;
const TOKENS_MAX = 20;

/** A bucket that each call fills a little and each retry empties by one: retries never become a flood of their own. */
export class RetryBudget {
  #tokens = TOKENS_MAX;

  deposit(): void {
    this.#tokens = Math.min(this.#tokens + SHARE, TOKENS_MAX);
  }

  /** False when the budget is spent: fail instead. */
  withdraw(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
