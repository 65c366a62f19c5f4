import { availableParallelism } from 'node:os';

/** How many of the connections of a process each kind of reading takes at most. */
export interface ConnectionShares {
  /** Each for as long as a snapshot is read. */
  readonly bootstraps: number;
  readonly batches: number;
  /** Pages of deltas, and who sees what, for those who ask over HTTP. */
  readonly pages: number;
  /** The same for sockets. */
  readonly sockets: number;
}

/**
 * Divides the pool, so that no kind of reading takes the connections that another needs; each kind shares its own out by
 * person. A tenth is left to what nobody asks for and everybody needs: the hub, the relay, answers to replays, readiness.
 * More bootstraps at once than twice the cores would only wait for each other.
 */
export function shareConnections(poolMax: number): ConnectionShares {
  const quarter = Math.max(1, Math.floor(poolMax / 4));
  const fifth = Math.max(1, Math.floor(poolMax / 5));
  return {
    bootstraps: Math.min(quarter, 2 * availableParallelism()),
    batches: fifth,
    pages: quarter,
    sockets: fifth,
  };
}

/** While PostgreSQL finds one page the event loop writes another; a third would only make everybody's turn come later. */
export const PAGES_OF_ONE_MAX = 2;
