import type { World } from '@wts/testkit';
import { doorOf } from '../door.ts';
import { listenAtHead } from '../listening.ts';
import { openLoop, percentiles } from '../load.ts';
import type { Row } from '../report.ts';
import { ms } from '../report.ts';
import { mutate, openClients } from '../traffic.ts';

interface Pace {
  readonly perSecond: number;
  readonly p50MsMax: number;
  readonly p99MsMax: number;
}

const PACES: readonly Pace[] = [
  { perSecond: 500, p50MsMax: 8, p99MsMax: 50 },
  { perSecond: 1_000, p50MsMax: 5, p99MsMax: 25 },
];

/**
 * From the commit of a change to its arrival at another client's socket. Seen from outside, the commit lies before the answer
 * to the writer; counted is from that answer, and beside it from the sending of the request, which bounds it from above.
 */
export async function liveRows(world: World, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { perSecond, p50MsMax, p99MsMax } of PACES) {
    const { fromSend, fromAnswer } = await measureLatency(world, perSecond, seconds);
    rows.push({
      what: `commit -> socket at ${perSecond}/s`,
      ours: `p50 ${ms(Math.max(0, fromAnswer.p50Ms))}, p99 ${ms(fromAnswer.p99Ms)}`,
      against: `send -> socket p50 ${ms(fromSend.p50Ms)}, p99 ${ms(fromSend.p99Ms)}`,
      ratio: '',
      goal: `p50 <= ${p50MsMax} ms, p99 <= ${p99MsMax} ms`,
      isReached: fromAnswer.p50Ms <= p50MsMax && fromAnswer.p99Ms <= p99MsMax,
    });
  }
  return rows;
}

/** As one socket sees it among `others`; the one that subscribed last, which is told last. */
export async function measureLatency(
  world: World,
  perSecond: number,
  seconds: number,
  others = 0,
): Promise<{ fromSend: Percentiles; fromAnswer: Percentiles }> {
  const pool = openClients(world.baseUrl, 64);
  const { lastSyncId } = await mutate(pool, world, 1);
  const crowd = others === 0 ? [] : await listenAtHead(doorOf(world), others - 1);
  const socket = await world.socket({ after: lastSyncId });
  const sent: { id: string; sentMs: number; answeredMs: number }[] = [];
  try {
    await openLoop(perSecond, 1, async () => void (await mutate(pool, world, 1)));
    await openLoop(perSecond, seconds, async () => {
      const sentMs = performance.now();
      const { mutations } = await mutate(pool, world, 1);
      sent.push({ id: mutations[0]?.modelId ?? '', sentMs, answeredMs: performance.now() });
    });
    const last = sent.at(-1)?.id;
    await socket.untilAction(({ modelId }) => modelId === last);
  } finally {
    for (const one of crowd) one.close();
    await socket.close();
    await pool.close();
  }
  const seenMs = new Map(socket.actions.map(({ modelId }, index) => [modelId, socket.arrivals[index] ?? Number.NaN]));
  return {
    fromSend: percentiles(sent.map(({ id, sentMs }) => (seenMs.get(id) ?? Number.NaN) - sentMs)),
    fromAnswer: percentiles(sent.map(({ id, answeredMs }) => Math.max(0, (seenMs.get(id) ?? Number.NaN) - answeredMs))),
  };
}

type Percentiles = ReturnType<typeof percentiles>;
