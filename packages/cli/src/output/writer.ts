import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CliFault } from '../fault.ts';

/** The reader of the output closed it, as `head` does: a command that only reads has done enough. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/** Writes to a stream no faster than it is read. */
export class Writer {
  readonly #stream: Writable;
  readonly #gone: AbortController;
  readonly #ending: AbortSignal;

  /** `gone` aborts with what every further write throws. After Ctrl-C there is no wait for a reader that reads nothing. */
  constructor(stream: Writable, gone: AbortController, interrupted: AbortSignal) {
    this.#stream = stream;
    this.#gone = gone;
    this.#ending = AbortSignal.any([gone.signal, interrupted]);
    stream.on('error', this.#onError);
  }

  async write(text: string): Promise<void> {
    this.#gone.signal.throwIfAborted();
    if (text === '' || this.#stream.write(text)) return;
    await once(this.#stream, 'drain', { signal: this.#ending }).catch(() => {
      throw this.#ending.reason;
    });
  }

  async written(): Promise<void> {
    await new Promise((resolve) => this.#stream.write('', resolve));
    this.#gone.signal.throwIfAborted();
  }

  close(): void {
    this.#stream.off('error', this.#onError);
    // A late error of a closed pipe has no reader either.
    this.#stream.on('error', () => {});
  }

  readonly #onError = (cause: NodeJS.ErrnoException): void => {
    const { code } = cause;
    const isGone = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
    const fault = new CliFault('failed', `The output cannot be written (${code ?? cause.message}).`, { cause });
    this.#gone.abort(isGone ? new ReaderGone() : fault);
  };
}
