/** Keeps the beginnings of an endpoint's retries apart. */
export class RetryPacer {
  readonly #paceMs: number;
  readonly #onTurn: () => void;
  #notBeforeMs = 0;
  #isWaiting = false;

  constructor(paceMs: number, onTurn: () => void) {
    this.#paceMs = paceMs;
    this.#onTurn = onTurn;
  }

  /** True when a retry may begin now. Else `onTurn` is called at that time, by one timer however often this is called. */
  take(): boolean {
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs <= 0) {
      this.#notBeforeMs = performance.now() + this.#paceMs;
      return true;
    }
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      setTimeout(() => {
        this.#isWaiting = false;
        this.#onTurn();
      }, Math.ceil(waitMs)).unref();
    }
    return false;
  }
}
