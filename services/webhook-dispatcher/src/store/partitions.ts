import { LIMITS } from '@wts/contracts';
import type { Pool, PoolClient } from 'pg';
import { inTransaction } from './transaction.ts';

/*
 * Events, deliveries and attempts lie in partitions by the day of the event (UTC), so that old ones go by the partition and
 * not row by row. Each table also has a default partition. It takes what has no partition of its own: events of a log that
 * was not followed for days, or of the first day of a new database.
 */

const DAY_MS = 24 * 60 * 60 * 1000;
/** A service that cannot make partitions for so long puts events into the default one. */
const DAYS_AHEAD = 3;
/** A statement that waits for a lock delays all that come after it. What was not possible is done in the next round. */
const LOCK_TIMEOUT = '1s';
const CHUNK_ROWS = 5_000;

interface Partitioned {
  readonly name: string;
  readonly column: string;
  /** Of each partition; PostgreSQL takes none from the whole table. */
  readonly storage: string;
}

// Deliveries are updated with each attempt: room on the page keeps an update there, and pages are cleaned early.
const TABLES: readonly Partitioned[] = [
  { name: 'events', column: 'created_at', storage: '' },
  { name: 'deliveries', column: 'event_at', storage: 'with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)' },
  { name: 'attempts', column: 'event_at', storage: '' },
];

/** Makes what is missing for today and the next days. Two replicas that do so at once do no harm: one of them fails. */
export async function makePartitions(pool: Pool): Promise<void> {
  const today = await readToday(pool);
  for (const table of TABLES) {
    const known = new Set((await listDays(pool, table)).map((day) => day.getTime()));
    for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) {
      const day = new Date(today.getTime() + ahead * DAY_MS);
      if (!known.has(day.getTime())) await changeTables(pool, (client) => makePartition(client, table, day));
    }
  }
}

/** Drops what is older than it is kept; the names of the partitions that went. */
export async function dropOld(pool: Pool): Promise<string[]> {
  const dropped: string[] = [];
  const today = await readToday(pool);
  const oldest = new Date(today.getTime() - LIMITS.deliveryDays * DAY_MS);
  // Events last, because a delivery without its event could not be attempted and would be read again and again.
  for (const table of TABLES.toReversed()) {
    for (const day of await listDays(pool, table)) {
      if (day >= oldest) continue;
      const name = partitionName(table, day);
      await changeTables(pool, (client) => client.query(`drop table webhooks.${name}`));
      dropped.push(name);
    }
    await removeRows(pool, { name: `${table.name}_default`, column: table.column }, oldest);
  }
  // No partitions, because there are few of them.
  await removeRows(pool, { name: 'parked_entries', column: 'parked_at' }, oldest);
  return dropped;
}

/**
 * A row that waited for the lock of the default partition while a partition was made is refused (23514), and is stored in the
 * new one when its statement is repeated. A check constraint has a name, the bounds of a partition have none.
 */
export function isOfNewPartition(err: unknown): boolean {
  const { code, constraint } = (err ?? {}) as { code?: unknown; constraint?: unknown };
  return code === '23514' && constraint === undefined;
}

/**
 * ATTACH takes the lock of the default partition anyway. Held from the check to the commit, it keeps other rows out of the default
 * partition. A row that waits for it is refused (23514) and is stored in the new partition when its statement is repeated; that happens
 * only where partitions were not made ahead.
 *
 * A day that has rows in the default partition stays there. A statement whose planning waits for the lock reads the partitions
 * from before, so it would miss a row that moved, and its lane would then wait for the next event.
 */
async function makePartition(client: PoolClient, table: Partitioned, day: Date): Promise<void> {
  const { name, column, storage } = table;
  const partition = partitionName(table, day);
  const [from, to] = [boundOf(day), boundOf(new Date(day.getTime() + DAY_MS))];
  const isCaught = async (): Promise<boolean> => {
    const isWithin = `${column} >= '${from}' and ${column} < '${to}'`;
    return (await client.query(`select from webhooks.${name}_default where ${isWithin} limit 1`)).rowCount !== 0;
  };
  if (await isCaught()) return;
  await client.query(`lock table webhooks.${name}_default in access exclusive mode`);
  if (await isCaught()) return;
  await client.query(`create table webhooks.${partition} (like webhooks.${name} including all) ${storage}`);
  await client.query(
    `alter table webhooks.${name} attach partition webhooks.${partition} for values from ('${from}') to ('${to}')`,
  );
}

async function removeRows(
  pool: Pool,
  { name, column }: Pick<Partitioned, 'name' | 'column'>,
  oldest: Date,
): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from webhooks.${name}
       where ctid = any(array(select ctid from webhooks.${name} where ${column} < $1 limit ${CHUNK_ROWS}))`,
      [oldest.toISOString()],
    );
    if ((rowCount ?? 0) < CHUNK_ROWS) return;
  }
}

/** By the clock of the database, as all replicas do. */
async function readToday(pool: Pool): Promise<Date> {
  const { rows } = await pool.query<{ today: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today`,
  );
  return new Date(`${rows[0]?.today}T00:00:00Z`);
}

async function listDays(pool: Pool, { name }: Partitioned): Promise<Date[]> {
  const { rows } = await pool.query<{ partition: string }>(
    `select relname as partition from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = $1::regclass order by relname`,
    [`webhooks.${name}`],
  );
  return rows.flatMap(({ partition }) => {
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? [];
    return year === undefined ? [] : [new Date(`${year}-${month}-${day}T00:00:00Z`)];
  });
}

function partitionName({ name }: Partitioned, day: Date): string {
  return `${name}_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function boundOf(day: Date): string {
  return `${day.toISOString().slice(0, 10)} 00:00:00+00`;
}

/** Changes tables in a transaction that waits for a lock only briefly. */
function changeTables(pool: Pool, work: (client: PoolClient) => Promise<unknown>): Promise<unknown> {
  return inTransaction(pool, async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await work(client);
  });
}
