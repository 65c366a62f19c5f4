import { addAbortListener } from 'node:events';
import type { Pool } from 'pg';

/*
 * The log is partitioned by position, so that old entries are dropped with their partition and not deleted row by row. Partitions
 * are attached complete and detached CONCURRENTLY: both wait for readers and writers of the log, and block none of them.
 */

/** Made ahead of the head, so that every commit finds a partition, also after the gap of a new epoch. */
const PARTITIONS_AHEAD = 3n;
/** DETACH waits for transactions that have seen the partition; a snapshot may be read for a minute. */
const DETACH_TIMEOUT_MS = 120_000;
/** How much longer pg waits, which otherwise gives up earlier, on a server that no longer answers. */
const GRACE_MS = 5_000;

export interface Partition {
  readonly name: string;
  /** Inclusive. */
  readonly from: bigint;
  /** Exclusive. */
  readonly to: bigint;
  /** A DETACH was begun and did not end. */
  readonly isDetaching: boolean;
}

/** In the order of positions. */
export async function listPartitions(pool: Pool): Promise<Partition[]> {
  const { rows } = await pool.query<{ name: string; bound: string; detaching: boolean }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound, i.inhdetachpending as detaching
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'sync.sync_actions'::regclass`,
  );
  return rows
    .flatMap(({ name, bound, detaching }) => {
      const [, from, to] = /FROM \('(\d+)'\) TO \('(\d+)'\)/.exec(bound) ?? [];
      if (from === undefined || to === undefined) return [];
      return [{ name, from: BigInt(from), to: BigInt(to), isDetaching: detaching }];
    })
    .toSorted((a, b) => (a.from < b.from ? -1 : 1));
}

/** Makes the partitions that the log needs next, each for `size` positions. Existing partitions keep theirs. */
export async function makePartitions(pool: Pool, head: bigint, size: bigint): Promise<void> {
  const end = (await listPartitions(pool)).at(-1)?.to ?? 0n;
  const next = head + 1n;
  const until = next + PARTITIONS_AHEAD * size;
  for (let from = end > next ? end : max(end, next - (next % size)); from < until; from += size) {
    const to = from + size;
    const name = `sync_actions_from_${from}`;
    // The check saves ATTACH a scan. Both statements are one message and so one transaction.
    await pool.query(
      `create table sync.${name} (like sync.sync_actions including all, check (sync_id >= ${from} and sync_id < ${to}));
       alter table sync.sync_actions attach partition sync.${name} for values from (${from}) to (${to})`,
    );
  }
}

/**
 * Detaches a partition from the log and drops it. The call can be repeated after any failure, so a process that stops need not
 * wait for the readers of the partition.
 */
export async function dropPartition(pool: Pool, { name, isDetaching }: Partition, signal?: AbortSignal): Promise<void> {
  const client = await pool.connect();
  let isReleased = false;
  const release = (): void => {
    // Destroyed, so that the settings of the session end with it.
    if (!isReleased) client.release(true);
    isReleased = true;
  };
  // A connection that is cut may emit its error late; without a listener that would end the process.
  client.on('error', ignore);
  using _cutting = signal && addAbortListener(signal, release);
  try {
    signal?.throwIfAborted();
    await client.query(`set statement_timeout = ${DETACH_TIMEOUT_MS}; set lock_timeout = ${DETACH_TIMEOUT_MS}`);
    const text = `alter table sync.sync_actions detach partition sync.${name} ${isDetaching ? 'finalize' : 'concurrently'}`;
    const detach = { text, query_timeout: DETACH_TIMEOUT_MS + GRACE_MS };
    await client.query(detach);
    await client.query(`drop table sync.${name}`);
  } finally {
    release();
  }
}

/** Drops partitions that were detached and then not dropped. */
export async function dropDetached(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'sync'::regnamespace and relkind = 'r'
       and not relispartition and relname ~ '^sync_actions_(from_)?[0-9]+$'`,
  );
  for (const { name } of rows) await pool.query(`drop table if exists sync.${name}`);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function ignore(): void {}
