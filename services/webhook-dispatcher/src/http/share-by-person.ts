import { SenderSemaphores } from '@wts/service-kit/call';
import { mount } from '@wts/service-kit/routes';
import { MANAGEMENT } from '../limits.ts';

export interface ShareByPerson {
  /** Runs a piece of work with PostgreSQL; only a few of one person run at a time. */
  readonly run: <T>(userId: string, work: () => Promise<T>) => Promise<T>;
  /** Mounts an operation whose whole work is one piece. */
  readonly mount: typeof mount;
}

/**
 * Divides the connections for requests between people. A person with hundreds of parallel requests waits for their own; the
 * requests of another person find a connection.
 */
export function shareByPerson(): ShareByPerson {
  const people = new SenderSemaphores({
    atOnce: MANAGEMENT.ofPersonAtOnce,
    waitingMax: MANAGEMENT.ofPersonWaitingMax,
    waitMs: MANAGEMENT.waitMs,
    refusal: 'Too many requests of yours are waiting; try again shortly.',
  });
  return {
    run: (userId, work) => people.run(userId, work),
    mount: (router, contract, handler, options) =>
      mount(router, contract, (call) => people.run(call.principal.userId, () => handler(call)), options),
  };
}
