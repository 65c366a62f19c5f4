import { Gauge, type Registry } from 'prom-client';

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
  const registers = [registry];
  void new Gauge({
    name: 'wts_postgres_connections',
    help: 'Connections to PostgreSQL, by pool and state: used, idle.',
    labelNames: ['pool', 'state'] as const,
    registers,
    collect() {
      for (const [label, { pool }] of pools) {
        this.set({ pool: label, state: 'used' }, pool.totalCount - pool.idleCount);
        this.set({ pool: label, state: 'idle' }, pool.idleCount);
      }
    },
  });
  void new Gauge({
    name: 'wts_postgres_connections_max',
    help: 'Connections that a pool opens at most.',
    labelNames: ['pool'] as const,
    registers,
    collect() {
      for (const [label, { max }] of pools) this.set({ pool: label }, max);
    },
  });
  void new Gauge({
    name: 'wts_postgres_waiting',
    help: 'Statements and transactions that wait for a connection of the pool.',
    labelNames: ['pool'] as const,
    registers,
    collect() {
      for (const [label, { pool }] of pools) this.set({ pool: label }, pool.waitingCount);
    },
  });
  return pools;
}
