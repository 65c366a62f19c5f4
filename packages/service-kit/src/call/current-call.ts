import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The request that a handler answers: each call to another service that the handler causes has its id and ends with it, without passing
 * both through every function between. Empty in background work, and where several requests share a call, which none of them may end.
 * Only code that wants another end than that of its request, such as a deadline of its own, gives a call its `signal`.
 */
export const currentCall = new AsyncLocalStorage<{ readonly requestId: string; readonly signal: AbortSignal }>();
