import type { World } from '@wts/testkit';
import { Client } from 'pg';
import type { Door } from '../door.ts';
import { listenAtHead, untilSilent } from '../listening.ts';
import { closedLoop } from '../load.ts';
import { number, type Row } from '../report.ts';
import { mutate, openClients } from '../traffic.ts';

const WRITERS = 32;
const SOCKETS = 8;
const SILENT_MS = 1_500;
const DEADLINE_MS = 30_000;

/** Actions that stand in the log and never came to a live socket, while 32 writers write. The same checker for both. */
export async function missingRows(world: World, peer: Door | null, ours: Door, seconds: number): Promise<Row[]> {
  const us = await measure(world, ours, seconds);
  const them = peer === null ? null : await measure(world, peer, seconds);
  return [
    {
      what: `actions missing on ${SOCKETS} live sockets, ${WRITERS} writers`,
      ours: words(us),
      against: peer === null || them === null ? '' : `${peer.name} ${words(them)}`,
      ratio: '',
      goal: '0',
      isReached: us.missing === 0,
    },
  ];
}

interface Missing {
  readonly missing: number;
  readonly expected: number;
}

const words = ({ missing, expected }: Missing): string =>
  `${number(missing)} of ${number(expected)} (${((100 * missing) / Math.max(1, expected)).toFixed(2)} %)`;

async function measure(world: World, door: Door, seconds: number): Promise<Missing> {
  const sockets = await listenAtHead(door, SOCKETS, true);
  const pool = openClients(door.baseUrl, WRITERS);
  const before = await placesAfter(world, door, null);
  try {
    await closedLoop(WRITERS, seconds, async () => (await mutate(pool, door, 1)).results.length);
    await untilSilent(sockets, SILENT_MS, DEADLINE_MS);
    const expected = await placesAfter(world, door, before.at(-1) ?? '0');
    const missing = sockets.reduce((sum, { ids }) => {
      const came = new Set(ids);
      return sum + expected.filter((id) => !came.has(id)).length;
    }, 0);
    return { missing, expected: expected.length * SOCKETS };
  } finally {
    for (const socket of sockets) socket.close();
    await pool.close();
  }
}

/** All places after one; with null only the last. */
async function placesAfter(world: World, { log, workspaceId }: Door, after: string | null): Promise<string[]> {
  const client = new Client({ connectionString: world.database.url });
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
