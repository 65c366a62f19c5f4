import { Client } from 'pg';
import type { Target } from '../target.ts';
import { listenAtHead, untilHeard } from '../listening.ts';
import { closedLoop } from '../load.ts';
import type { Findings, Scene } from '../scene.ts';
import { count } from '../report.ts';
import { inTurns } from '../rounds.ts';
import { mutate, openClients } from '../traffic.ts';

const WRITERS = 32;
const SOCKETS = 8;
const SILENT_MS = 2_000;
const DEADLINE_MS = 30_000;

/** What 32 writers wrote, and what of it live sockets did not get, or got wrong. The same checker for both. */
export async function missingRows({ testSystem, ours, peer, rounds, seconds }: Scene): Promise<Findings> {
  const databaseUrl = testSystem.database.url;
  const measured = await inTurns<'ours' | 'peer', Heard>(rounds, {
    ours: () => measure(databaseUrl, ours, seconds),
    peer: peer === null ? undefined : () => measure(databaseUrl, peer, seconds),
  });
  const us = sum(measured.ours);
  return {
    rows: [
      {
        what: `actions missing on ${SOCKETS} live sockets, ${WRITERS} writers`,
        ours: words(us),
        against: peer === null ? '' : `${peer.name} ${words(sum(measured.peer))}`,
        ratio: '',
        goal: '0 missing, doubled or disordered',
        isReached: us.missing + us.doubled + us.disordered === 0,
      },
    ],
    raw: measured,
  };
}

export interface Heard {
  readonly expected: number;
  readonly missing: number;
  readonly doubled: number;
  /** Came after one with a higher place. */
  readonly disordered: number;
}

/** Compares what sockets heard, in the order they heard it, with the log. */
export function compare(log: readonly string[], sockets: readonly (readonly string[])[]): Heard {
  return sum(
    sockets.map((ids) => {
      const came = new Set(ids);
      let last = 0n;
      let disordered = 0;
      for (const id of ids.map(BigInt)) {
        if (id < last) disordered += 1;
        else last = id;
      }
      return {
        expected: log.length,
        missing: log.filter((id) => !came.has(id)).length,
        doubled: ids.length - came.size,
        disordered,
      };
    }),
  );
}

function sum(all: readonly Heard[]): Heard {
  const of = (field: keyof Heard): number => all.reduce((total, one) => total + one[field], 0);
  return {
    expected: of('expected'),
    missing: of('missing'),
    doubled: of('doubled'),
    disordered: of('disordered'),
  };
}

const words = ({ missing, expected, doubled, disordered }: Heard): string =>
  [
    `${count(missing)} of ${count(expected)} missing (${((100 * missing) / Math.max(1, expected)).toFixed(2)} %)`,
    ...(doubled > 0 ? [`${count(doubled)} doubled`] : []),
    ...(disordered > 0 ? [`${count(disordered)} disordered`] : []),
  ].join(', ');

async function measure(databaseUrl: string, target: Target, seconds: number): Promise<Heard> {
  const sockets = await listenAtHead(target, SOCKETS, 'ids');
  const pool = openClients(target.baseUrl, WRITERS);
  const [before = '0'] = await placesAfter(databaseUrl, target, null);
  try {
    await closedLoop(WRITERS, seconds, async () => (await mutate(pool, target, 1)).results.length);
    const log = await placesAfter(databaseUrl, target, before);
    await untilHeard(sockets, log.length * SOCKETS, SILENT_MS, DEADLINE_MS);
    return compare(
      log,
      sockets.map(({ ids }) => ids),
    );
  } finally {
    for (const socket of sockets) socket.close();
    await pool.close();
  }
}

/** All places after one; with null only the last. */
async function placesAfter(databaseUrl: string, target: Target, after: string | null): Promise<string[]> {
  const { log, workspaceId } = target;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ at: string }>(
      after === null
        ? `select coalesce(max(${log.place}), 0)::text as at from ${log.table}`
        : `select ${log.place}::text as at from ${log.table} where group_id = $1 and ${log.place} > $2 order by ${log.place}`,
      after === null ? [] : [workspaceId, after],
    );
    return rows.map(({ at }) => at);
  } finally {
    await client.end();
  }
}
