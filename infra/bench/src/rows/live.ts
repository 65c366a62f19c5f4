import { Client } from 'pg';
import { cpuMsOf } from '../cpu.ts';
import type { Target } from '../target.ts';
import { listenAtHead, untilHeard } from '../listening.ts';
import { openLoop, percentiles, type Paced, type Percentiles } from '../load.ts';
import type { Findings, Scene } from '../scene.ts';
import type { Row } from '../report.ts';
import { ms, number } from '../report.ts';
import { inTurns, median } from '../rounds.ts';
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
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const SILENT_MS = 2_000;
const DEADLINE_MS = 30_000;

/** From the commit of a change to its arrival at another client's socket, at a fixed pace. */
export async function liveRows({ testSystem, ours, peer, rounds, seconds, say }: Scene): Promise<Findings> {
  const rows: Row[] = [];
  const raw: Record<string, unknown> = {};
  const databaseUrl = testSystem.database.url;
  for (const { perSecond, p50MsMax, p99MsMax } of PACES) {
    const measured = await inTurns<'ours' | 'peer', Latency>(rounds, {
      ours: () => measureLatency(ours, { perSecond, seconds, databaseUrl }),
      peer: peer === null ? undefined : () => measureLatency(peer, { perSecond, seconds, databaseUrl }),
    });
    const what = `commit -> socket at ${perSecond}/s`;
    raw[what] = measured;
    const us = median(measured.ours, p99);
    rows.push({
      what,
      ours: words(us),
      against: peer === null ? '' : `${peer.name} ${words(median(measured.peer, p99))}`,
      ratio: '',
      goal: `p50 <= ${p50MsMax} ms, p99 <= ${p99MsMax} ms`,
      isReached: us.pace.isKept && us.missing === 0 && of(us).p50Ms <= p50MsMax && of(us).p99Ms <= p99MsMax,
    });
    say(`${what}: ${rows.at(-1)?.ours}; ${rows.at(-1)?.against}`);
  }
  return { rows, raw };
}

const of = ({ fromCommit, fromSend }: Latency): Percentiles => fromCommit ?? fromSend;
const p99 = (one: Latency): number => of(one).p99Ms;
const words = (one: Latency): string =>
  [
    ...(one.pace.isKept ? [] : [`cannot: ${number(one.pace.perSecond)}/s`]),
    `p50 ${ms(of(one).p50Ms)}, p99 ${ms(of(one).p99Ms)}`,
    ...(one.missing > 0 ? [`${one.missing} never came`] : []),
  ].join(', ');

export interface Latency {
  /** From the instant PostgreSQL notes in its log before it makes a commit durable. Null when it was not asked. */
  readonly fromCommit: Percentiles | null;
  readonly fromSend: Percentiles;
  /** From the answer to the writer; nothing where the socket was first. */
  readonly fromAnswer: Percentiles;
  readonly pace: Paced;
  /** Written, and not heard. */
  readonly missing: number;
  /** Of all processes between writer and sockets; null where the system does not tell. */
  readonly cpuMsPerChange: number | null;
}

interface Course {
  readonly perSecond: number;
  readonly seconds: number;
  /** Default 1. */
  readonly sockets?: number;
  /** Where commits are asked for; the server was started with `COMMIT_TIMES`. */
  readonly databaseUrl?: string;
}

/** Settings of PostgreSQL with which it tells when a change was committed. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' } as const;

/** As one socket sees it among others; the one that subscribed last, which is told last. */
export async function measureLatency(
  target: Target,
  { perSecond, seconds, sockets = 1, databaseUrl }: Course,
): Promise<Latency> {
  const pool = openClients(target.baseUrl, CONNECTIONS);
  const crowd = sockets > 1 ? await listenAtHead(target, sockets - 1) : [];
  const [socket] = await listenAtHead(target, 1, 'arrivals');
  const sent: Sent[] = [];
  const cpuMs = (): number | null => cpuMsOf(target.parts().map(({ pid }) => pid));
  try {
    const before = cpuMs();
    await openLoop(perSecond, WARM_UP_SECONDS, async () => void (await mutate(pool, target, 1)));
    const pace = await openLoop(perSecond, seconds, async () => {
      const sentMs = performance.now();
      const { modelIds } = await mutate(pool, target, 1);
      sent.push({ id: modelIds[0] ?? '', sentMs, answeredMs: performance.now() });
    });
    const changes = sent.length + perSecond * WARM_UP_SECONDS;
    await untilHeard(socket === undefined ? [] : [socket], changes, SILENT_MS, DEADLINE_MS);
    const after = cpuMs();
    const cpuMsPerChange = before === null || after === null ? null : (after - before) / changes;
    const commits = databaseUrl === undefined ? null : await commitsOf(databaseUrl, target, sent);
    return { pace, cpuMsPerChange, ...latencies(sent, socket?.arrivals ?? NOTHING, commits) };
  } finally {
    for (const one of [...crowd, socket]) one?.close();
    await pool.close();
  }
}

const NOTHING: ReadonlyMap<string, number> = new Map();

interface Sent {
  readonly id: string;
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** When each change was committed, in milliseconds of `performance.now`. */
async function commitsOf(databaseUrl: string, { log }: Target, sent: readonly Sent[]): Promise<Map<string, number>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; ms: number }>(
      `select model_id::text as id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as ms
       from ${log.table} where model_id = any($1::uuid[])`,
      [sent.map(({ id }) => id)],
    );
    const offsetMs = wallClockOffset();
    return new Map(rows.map((row) => [row.id, row.ms - offsetMs]));
  } finally {
    await client.end();
  }
}

/** What the wall clock shows more than `performance.now`, looked at the moment its millisecond turns. */
function wallClockOffset(): number {
  const began = Date.now();
  let now = began;
  while (now === began) now = Date.now();
  return now - performance.now();
}

function latencies(
  sent: readonly Sent[],
  arrivals: ReadonlyMap<string, number>,
  commits: ReadonlyMap<string, number> | null,
): Pick<Latency, 'fromCommit' | 'fromSend' | 'fromAnswer' | 'missing'> {
  const [fromSend, fromCommit, fromAnswer] = [[], [], []] as [number[], number[], number[]];
  for (const { id, sentMs, answeredMs } of sent) {
    const atMs = arrivals.get(id);
    if (atMs === undefined) continue;
    fromSend.push(atMs - sentMs);
    fromAnswer.push(Math.max(0, atMs - answeredMs));
    fromCommit.push(atMs - (commits?.get(id) ?? Number.NaN));
  }
  return {
    fromSend: percentiles(fromSend),
    fromCommit: commits === null ? null : percentiles(fromCommit),
    fromAnswer: percentiles(fromAnswer),
    missing: sent.length - fromSend.length,
  };
}
