import { AsyncLocalStorage } from 'node:async_hooks';

/** What a request passes to every call that it causes. */
export interface CallTrace {
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

/**
 * The request that a handler answers: each call to another service that the handler causes has its id and ends with it, without passing
 * both through every function between. Empty in background work, and where several requests share a call, which none of them may end.
 */
export const currentCall = new AsyncLocalStorage<CallTrace>();
