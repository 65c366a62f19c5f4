import type { Registry } from 'prom-client';
import { metricsOf } from '../observe/metrics.ts';

/** What a pool of pg shows of itself. */
interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

interface WatchedPool {
  readonly pool: Pool;
  readonly max: number;
}

const POOLS = new WeakMap<Registry, Map<string, WatchedPool>>();

/** Gauges of the connections of a process to PostgreSQL. Pools of one name, to a primary and its replica, are different servers. */
export function watchPool(registry: Registry, name: string, watched: WatchedPool): void {
  const pools = POOLS.getOrInsertComputed(registry, poolsOf);
  let label = name;
  for (let count = 2; pools.has(label); count += 1) label = `${name}-${count}`;
  pools.set(label, watched);
}

function poolsOf(registry: Registry): Map<string, WatchedPool> {
  const pools = new Map<string, WatchedPool>();
  const { watchSeries } = metricsOf(registry);
  const used = 'Connections to PostgreSQL, by pool and state: used, idle.';
  watchSeries('wts_postgres_connections', used, ['pool', 'state'], () =>
    pools.entries().flatMap(([name, { pool }]) => [
      [{ pool: name, state: 'used' }, pool.totalCount - pool.idleCount],
      [{ pool: name, state: 'idle' }, pool.idleCount],
    ]),
  );
  watchSeries('wts_postgres_connections_max', 'Connections that a pool opens at most.', ['pool'], () =>
    pools.entries().map(([name, { max }]) => [{ pool: name }, max]),
  );
  const waiting = 'Statements and transactions that wait for a connection of the pool.';
  watchSeries('wts_postgres_waiting', waiting, ['pool'], () =>
    pools.entries().map(([name, { pool }]) => [{ pool: name }, pool.waitingCount]),
  );
  return pools;
}
