import { connectTo } from '@wts/testkit';
import type { Target } from '../target.ts';
import { subscribeAtHead, untilReceived } from '../subscriber.ts';
import { closedLoop } from '../load.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { count } from '../report.ts';
import { alternateWithPeer } from '../rounds.ts';
import { mutate, openClients } from '../traffic.ts';

const WRITERS = 32;
const SOCKETS = 8;
const SILENT_MS = 2_000;
const DEADLINE_MS = 30_000;

/** Counts the changes of 32 writers that live sockets miss, receive twice or receive out of order. */
export async function missingRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, peer, rounds, seconds } = context;
  const databaseUrl = testSystem.database.url;
  const measured = await alternateWithPeer(rounds, context, (target) => measureMissing(databaseUrl, target, seconds));
  const us = sum(measured.ours);
  return {
    rows: [
      {
        what: `actions missing on ${SOCKETS} live sockets, ${WRITERS} writers`,
        ours: textOf(us),
        against: peer === null ? '' : `${peer.name} ${textOf(sum(measured.peer))}`,
        ratio: '',
        goal: '0 missing, doubled or disordered',
        isReached: us.missing + us.doubled + us.disordered === 0,
      },
    ],
    raw: measured,
  };
}

export interface Delivery {
  readonly expected: number;
  readonly missing: number;
  readonly doubled: number;
  /** Received after a higher position. */
  readonly disordered: number;
}

/** Compares the ids that sockets received, in order, with the log. */
export function compare(log: readonly string[], sockets: readonly (readonly string[])[]): Delivery {
  return sum(
    sockets.map((ids) => {
      const received = new Set(ids);
      let last = 0n;
      let disordered = 0;
      for (const id of ids.map(BigInt)) {
        if (id < last) disordered += 1;
        else last = id;
      }
      return {
        expected: log.length,
        missing: log.filter((id) => !received.has(id)).length,
        doubled: ids.length - received.size,
        disordered,
      };
    }),
  );
}

function sum(all: readonly Delivery[]): Delivery {
  const of = (field: keyof Delivery): number => all.reduce((total, one) => total + one[field], 0);
  return { expected: of('expected'), missing: of('missing'), doubled: of('doubled'), disordered: of('disordered') };
}

const textOf = ({ missing, expected, doubled, disordered }: Delivery): string =>
  [
    `${count(missing)} of ${count(expected)} missing (${((100 * missing) / Math.max(1, expected)).toFixed(2)} %)`,
    ...(doubled > 0 ? [`${count(doubled)} doubled`] : []),
    ...(disordered > 0 ? [`${count(disordered)} disordered`] : []),
  ].join(', ');

export async function measureMissing(databaseUrl: string, target: Target, seconds: number): Promise<Delivery> {
  using sockets = await subscribeAtHead(target, SOCKETS, 'ids');
  await using pool = openClients(target.baseUrl, WRITERS);
  const [before = '0'] = await positionsAfter(databaseUrl, target, null);
  await closedLoop(WRITERS, seconds, async () => (await mutate(pool, target, 1)).results.length);
  const log = await positionsAfter(databaseUrl, target, before);
  await untilReceived(sockets, log.length * SOCKETS, SILENT_MS, DEADLINE_MS);
  return compare(
    log,
    sockets.map(({ ids }) => ids),
  );
}

/** All positions after one; with null only the last. */
async function positionsAfter(databaseUrl: string, target: Target, after: string | null): Promise<string[]> {
  const { workspaceId } = target;
  const { table, positionColumn: column } = target.log;
  await using client = await connectTo(databaseUrl);
  const { rows } = await client.query<{ position: string }>(
    after === null
      ? `select coalesce(max(${column}), 0)::text as position from ${table}`
      : `select ${column}::text as position from ${table} where group_id = $1 and ${column} > $2 order by ${column}`,
    after === null ? [] : [workspaceId, after],
  );
  return rows.map(({ position }) => position);
}
