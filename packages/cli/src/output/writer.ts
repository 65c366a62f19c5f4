import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** The reader of the output closed it, as `head` does: a command that only reads has done enough. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/** Writes to a stream no faster than it is read. */
export class Writer {
  readonly #stream: Writable;
  readonly #gone: AbortController;

  constructor(stream: Writable, gone: AbortController) {
    this.#stream = stream;
    this.#gone = gone;
    stream.on('error', this.#onError);
  }

  async write(text: string): Promise<void> {
    if (this.#gone.signal.aborted) throw new ReaderGone();
    if (text === '' || this.#stream.write(text)) return;
    await once(this.#stream, 'drain', { signal: this.#gone.signal }).catch(() => {
      throw new ReaderGone();
    });
  }

  close(): void {
    this.#stream.off('error', this.#onError);
    // A late error of a closed pipe has no reader either.
    this.#stream.on('error', () => {});
  }

  readonly #onError = ({ code }: NodeJS.ErrnoException): void => {
    if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') this.#gone.abort();
    else throw new Error('the output cannot be written', { cause: code });
  };
}
