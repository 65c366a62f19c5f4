import { availableParallelism } from 'node:os';

/** How many of the connections of a process each kind of reading takes at most. */
export interface ConnectionShares {
  /** A bootstrap holds its connection until its snapshot is read. */
  readonly bootstraps: number;
  readonly keyedReads: number;
  /** Reads over HTTP: pages of deltas, and the groups of people. */
  readonly pages: number;
  /** The same reads for sockets. */
  readonly sockets: number;
}

/**
 * Divides the pool, so that no kind of reading takes the connections of another; within a kind, a `FairGate` divides them by
 * person. A tenth is left for the process itself: the hub, the relay, answers to replays, readiness. More parallel
 * bootstraps than twice the cores would only wait for each other.
 */
export function shareConnections(poolMax: number): ConnectionShares {
  const quarter = Math.max(1, Math.floor(poolMax / 4));
  const fifth = Math.max(1, Math.floor(poolMax / 5));
  return {
    bootstraps: Math.min(quarter, 2 * availableParallelism()),
    keyedReads: fifth,
    pages: quarter,
    sockets: fifth,
  };
}

/** Of a person who must yield: while PostgreSQL finds one page, the event loop writes another. */
export const PAGES_OF_ONE_MAX = 2;
