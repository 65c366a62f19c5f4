/**
 * The time of changes, by the clock of PostgreSQL, as this process knows it. What is kept for a time (the Trash, idempotency keys, entries,
 * events of webhooks) is deleted by that clock, so a replica whose own clock is wrong must not date it: it would be deleted at once.
 *
 * Between two readings the monotonic clock counts, so setting the clock of the host changes nothing.
 */
export class CommitClock {
  /** Added to `performance.now()`, it gives the time. Until the first reading by the clock of the host. */
  #originMs = Date.now() - performance.now();
  #isRead = false;

  get isRead(): boolean {
    return this.#isRead;
  }

  /** PostgreSQL had this time between the request, sent at `sentMs` of `performance.now()`, and now. Times that fit it stay as they are. */
  set(nowMs: number, sentMs: number): void {
    this.#isRead = true;
    this.#originMs = Math.min(Math.max(this.#originMs, nowMs - performance.now()), nowMs - sentMs);
  }

  /** As records have it. */
  now(): string {
    return new Date(performance.now() + this.#originMs).toISOString();
  }
}
