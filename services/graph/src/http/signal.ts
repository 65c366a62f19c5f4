import type { Response } from 'express';
import { deadlineReached } from '../graphql/execute.ts';

/** Aborts when the client has disconnected, or at the deadline; whichever comes first is its reason. */
export function signalOf(res: Response, deadlineMs: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(deadlineReached()), deadlineMs);
  timer.unref();
  res.once('close', () => {
    clearTimeout(timer);
    if (!res.writableFinished) controller.abort(new DOMException('The client has disconnected.', 'AbortError'));
  });
  return controller.signal;
}
