import type { Dispatcher, Pool } from 'undici';

export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An answer between services is a page of data at most; more is a fault, and must not fill the memory. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * One request over one pool, with one deadline over all of it: connecting, sending, waiting, every byte of the answer.
 * (undici's own timeouts start again with each byte.) Rejects with undici's error, a TimeoutError or an AbortError.
 */
export function dispatch(pool: Pool, outgoing: Outgoing): Promise<Answer> {
  const { method, path, headers, body, deadlineMs, signal } = outgoing;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let bytes = 0;
  const chunks: Buffer[] = [];
  const give = (reason: Error): void => {
    controller?.abort(reason);
    reject(reason);
  };
  const onAbort = (): void => give(new DOMException('The caller is gone.', 'AbortError'));
  const timer = setTimeout(
    () => give(new DOMException('The deadline has passed.', 'TimeoutError')),
    Math.max(0, deadlineMs - performance.now()),
  );
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const settled = promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
  if (signal?.aborted === true) return settled;
  pool.dispatch(
    { method, path, headers, body },
    {
      onRequestStart(started) {
        controller = started;
      },
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) give(new Error('The answer is too large.'));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        resolve({ status, body: Buffer.concat(chunks, bytes).toString('utf8') });
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    },
  );
  return settled;
}
