import type { Response } from 'express';
import { deadlineReached } from '../graphql/execute.ts';

/**
 * Aborts at the deadline, or when the exchange has ended: the client has disconnected, or it has its answer. Whichever comes first is
 * the reason. Statements may still run after the answer, because an error ends an operation before its other fields are read.
 */
export function signalOf(res: Response, deadlineMs: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(deadlineReached()), deadlineMs);
  timer.unref();
  res.once('close', () => {
    clearTimeout(timer);
    controller.abort(ENDED);
  });
  return controller.signal;
}

/** Made once, because making one takes longer than all else at the end of an exchange. */
const ENDED = new DOMException('The exchange has ended.', 'AbortError');
