/** Retries per call. */
const SHARE = 0.1;
const TOKENS_MAX = 20;

/** A token bucket: each call adds a fraction of a token and each retry takes one, so retries stay a share of the calls. */
export class RetryBudget {
  #tokens = TOKENS_MAX;

  deposit(): void {
    this.#tokens = Math.min(this.#tokens + SHARE, TOKENS_MAX);
  }

  /** False when the budget is used up. */
  withdraw(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
