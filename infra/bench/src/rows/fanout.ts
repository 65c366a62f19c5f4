import { residentOf, type Door } from '../door.ts';
import { listenAtHead, untilSilent } from '../listening.ts';
import { number, type Row } from '../report.ts';
import { mutate, openClients } from '../traffic.ts';

const SOCKETS = 500;
const ACTIONS = 400;
const RATIO_MIN = 2.5;
const SILENT_MS = 1_000;
const DEADLINE_MS = 120_000;

/**
 * Actions a second to 500 sockets of one process. The peer sends a frame for each action, ours may put several into one, so
 * what is counted is actions delivered; writing them is part of it.
 */
export async function fanoutRows(ours: Door, peer: Door | null): Promise<Row[]> {
  const us = await measure(ours);
  const them = peer === null ? null : await measure(peer);
  const ratio = them === null ? null : us / them;
  return [
    {
      what: `actions to ${SOCKETS} sockets`,
      ours: `${number(us)}/s`,
      against: them === null ? '' : `${peer?.name} ${number(them)}/s`,
      ratio: ratio === null ? '' : ratio.toFixed(1),
      goal: `>= ${RATIO_MIN}x`,
      isReached: ratio === null ? null : ratio >= RATIO_MIN,
    },
  ];
}

async function measure(door: Door): Promise<number> {
  const sockets = await listenAtHead(door, SOCKETS);
  const pool = openClients(door.baseUrl, 8);
  try {
    const startedMs = performance.now();
    let left = ACTIONS;
    const writer = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await mutate(pool, door, 1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    const lastMs = await untilSilent(sockets, SILENT_MS, DEADLINE_MS);
    const delivered = sockets.reduce((sum, { actions }) => sum + actions, 0);
    return delivered / ((lastMs - startedMs) / 1000);
  } finally {
    for (const socket of sockets) socket.close();
    await pool.close();
  }
}

const STALLED = 20;
const LARGE_BYTES = 10_000;
const LARGE_ACTIONS = 1_000;
const GROWN_MB_MAX = 10;

/** What 20 sockets that never read cost, beyond what writing the same to nobody costs. */
export async function stalledRows(ours: Door, peer: Door | null): Promise<Row[]> {
  const us = await grown(ours);
  const them = peer === null ? null : await grown(peer);
  return [
    {
      what: `memory with ${STALLED} stalled sockets`,
      ours: `+${number(us)} MB`,
      against: them === null ? '' : `${peer?.name} +${number(them)} MB`,
      ratio: '',
      goal: `< ${GROWN_MB_MAX} MB`,
      isReached: us < GROWN_MB_MAX,
    },
  ];
}

async function grown(door: Door): Promise<number> {
  const pool = openClients(door.baseUrl, 4);
  const write = async (): Promise<void> => {
    for (let sent = 0; sent < LARGE_ACTIONS; sent += 40) {
      await Promise.all(
        Array.from({ length: 4 }, () => mutate(pool, door, 10, { description: 'x'.repeat(LARGE_BYTES) })),
      );
    }
  };
  try {
    await write();
    await write();
    const before = await residentOf(door.pid());
    await write();
    const alone = (await residentOf(door.pid())) - before;
    const sockets = await listenAtHead(door, STALLED);
    for (const socket of sockets) socket.pause();
    const withSockets = await residentOf(door.pid());
    await write();
    const after = (await residentOf(door.pid())) - withSockets;
    for (const socket of sockets) socket.close();
    return Math.max(0, after - Math.max(0, alone));
  } finally {
    await pool.close();
  }
}
