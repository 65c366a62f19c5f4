import { Refusal } from './api.js';

/** How often the page reads again: often while something changes, less often while nothing does, seldom while calls fail. */
const EVERY_MS = 3_000;
const QUIET_MS_MAX = 10_000;
const FAILING_MS_MAX = 60_000;

/**
 * @typedef {object} PollState
 * @property {'live' | 'paused' | 'failed'} kind
 * @property {unknown} [error]
 * @property {number} [nextInMs] after a failure, when the page reads again by itself
 */

/**
 * Runs a task again and again, never twice at once, and not while the page is hidden.
 */
export class Poll {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {AbortController | null} */
  #running = null;
  #delayMs = EVERY_MS;
  #failures = 0;
  #isPaused = false;
  #isStopped = false;
  #read;
  #show;
  #onVisible = () => {
    if (!document.hidden && !this.#isPaused) this.now();
  };

  /**
   * @param {(signal: AbortSignal) => Promise<boolean>} read true when something has changed
   * @param {(state: PollState) => void} show
   */
  constructor(read, show) {
    this.#read = read;
    this.#show = show;
    document.addEventListener('visibilitychange', this.#onVisible);
  }

  get isPaused() {
    return this.#isPaused;
  }

  /** @param {boolean} isPaused */
  pause(isPaused) {
    this.#isPaused = isPaused;
    if (!isPaused) return this.now();
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    this.#show({ kind: 'paused' });
  }

  /** Reads at once, also when it is paused; a reading in progress is out of date and ends. */
  now() {
    if (this.#isStopped) return;
    this.#delayMs = EVERY_MS;
    this.#running?.abort();
    this.#running = null;
    clearTimeout(this.#timer);
    void this.#run();
  }

  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    document.removeEventListener('visibilitychange', this.#onVisible);
  }

  async #run() {
    const running = new AbortController();
    this.#running = running;
    try {
      const isChanged = await this.#read(running.signal);
      if (this.#running !== running) return;
      this.#failures = 0;
      this.#delayMs = isChanged ? EVERY_MS : Math.min(this.#delayMs * 1.5, QUIET_MS_MAX);
      this.#show({ kind: this.#isPaused ? 'paused' : 'live' });
    } catch (error) {
      if (this.#running !== running) return;
      const isTemporary = error instanceof Refusal && error.isTemporary;
      const askedMs = (error instanceof Refusal ? (error.retryAfterSeconds ?? 0) : 0) * 1_000;
      this.#failures += 1;
      this.#delayMs = Math.max(Math.min(EVERY_MS * 2 ** this.#failures, FAILING_MS_MAX), askedMs);
      this.#show({ kind: 'failed', error, ...(isTemporary && !this.#isPaused ? { nextInMs: this.#delayMs } : {}) });
      if (!isTemporary) return;
    }
    if (this.#isStopped || this.#isPaused || document.hidden) return;
    this.#timer = setTimeout(() => void this.#run(), this.#delayMs);
  }
}
