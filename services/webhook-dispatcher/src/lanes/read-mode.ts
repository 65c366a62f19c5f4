import assert from 'node:assert/strict';

/**
 * How what a lane knows of PostgreSQL compares with it. First attempts, retries and settings have a mode each:
 *
 * - `unread`: there may be something that is not known here. The initial mode. A reading leads to `reading`.
 * - `reading`: a reading is in progress. Its end leads to `read`, its failure to `unread`, a change to `outdated`.
 * - `outdated`: a reading is in progress that may have begun before a change. Its end and its failure lead to `unread`, so no change
 *   is lost, whenever it becomes known.
 * - `read`: everything is known. A change leads to `unread`, a reading for another reason to `reading`.
 */
export class ReadMode {
  #mode: 'unread' | 'reading' | 'outdated' | 'read' = 'unread';

  get isUnread(): boolean {
    return this.#mode === 'unread';
  }

  get isRead(): boolean {
    return this.#mode === 'read';
  }

  get isReading(): boolean {
    return this.#mode === 'reading' || this.#mode === 'outdated';
  }

  /** PostgreSQL has something new, or may have. */
  changed(): void {
    this.#mode = this.isReading ? 'outdated' : 'unread';
  }

  begin(): void {
    assert(!this.isReading, 'a reading begins during another one');
    this.#mode = 'reading';
  }

  end(): void {
    assert(this.isReading, 'a reading ends that did not begin');
    this.#mode = this.#mode === 'reading' ? 'read' : 'unread';
  }

  fail(): void {
    this.#mode = 'unread';
  }
}
