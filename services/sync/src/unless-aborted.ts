import { addAbortListener } from 'node:events';

/** Rejects when the signal aborts before the promise settles. The work behind the promise continues. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  using _listener = addAbortListener(signal, () => reject(signal.reason));
  return await Promise.race([promise, aborted]);
}
