import { Client } from 'pg';
import { wallClockOffset } from '../clock.ts';
import { cpuMsOf } from '../cpu.ts';
import type { Target } from '../target.ts';
import { subscribeAtHead, untilReceived } from '../subscriber.ts';
import { openLoop, percentiles, type Paced, type Percentiles } from '../load.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import type { ReportRow } from '../report.ts';
import { ms, number } from '../report.ts';
import { alternate, median } from '../rounds.ts';
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
export async function liveRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, seconds, print } = context;
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  const databaseUrl = testSystem.database.url;
  for (const { perSecond, p50MsMax, p99MsMax } of PACES) {
    const measured = await alternate<'ours' | 'peer', Latency>(rounds, {
      ours: () => measureLatency(ours, { perSecond, seconds, databaseUrl }),
      peer: peer === null ? undefined : () => measureLatency(peer, { perSecond, seconds, databaseUrl }),
    });
    const what = `commit -> socket at ${perSecond}/s`;
    raw[what] = measured;
    const us = median(measured.ours, p99);
    rows.push({
      what,
      ours: textOf(us),
      against: peer === null ? '' : `${peer.name} ${textOf(median(measured.peer, p99))}`,
      ratio: '',
      goal: `p50 <= ${p50MsMax} ms, p99 <= ${p99MsMax} ms`,
      isReached: us.pace.isKept && us.missing === 0 && of(us).p50Ms <= p50MsMax && of(us).p99Ms <= p99MsMax,
    });
    print(`${what}: ${rows.at(-1)?.ours}; ${rows.at(-1)?.against}`);
  }
  return { rows, raw };
}

const of = ({ fromCommit, fromSend }: Latency): Percentiles => fromCommit ?? fromSend;
const p99 = (one: Latency): number => of(one).p99Ms;
const textOf = (one: Latency): string =>
  [
    ...(one.pace.isKept ? [] : [`cannot: ${number(one.pace.perSecond)}/s`]),
    `p50 ${ms(of(one).p50Ms)}, p99 ${ms(of(one).p99Ms)}`,
    ...(one.missing > 0 ? [`${one.missing} never arrived`] : []),
  ].join(', ');

export interface Latency {
  /** From PostgreSQL's commit timestamp, which it takes before it flushes the commit to disk. Null without `databaseUrl`. */
  readonly fromCommit: Percentiles | null;
  readonly fromSend: Percentiles;
  /** From the reply to the writer; 0 when the socket received the change first. */
  readonly fromReply: Percentiles;
  readonly pace: Paced;
  /** Changes that did not arrive. */
  readonly missing: number;
  /** Of all processes between writer and sockets; null without `/proc`. */
  readonly cpuMsPerChange: number | null;
}

interface LoadOptions {
  readonly perSecond: number;
  readonly seconds: number;
  /** Default 1. */
  readonly sockets?: number;
  /** The database with the commit timestamps; its server must run with `COMMIT_TIMES`. */
  readonly databaseUrl?: string;
}

/** Settings with which PostgreSQL stores commit timestamps. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' } as const;

/** Measures at the socket that subscribed last, because the server sends to it last. */
export async function measureLatency(
  target: Target,
  { perSecond, seconds, sockets = 1, databaseUrl }: LoadOptions,
): Promise<Latency> {
  const pool = openClients(target.baseUrl, CONNECTIONS);
  const others = sockets > 1 ? await subscribeAtHead(target, sockets - 1) : [];
  const [socket] = await subscribeAtHead(target, 1, 'arrivals');
  const sent: Sent[] = [];
  const cpuMs = (): number | null => cpuMsOf(target.processes().map(({ pid }) => pid));
  try {
    const before = cpuMs();
    await openLoop(perSecond, WARM_UP_SECONDS, async () => void (await mutate(pool, target, 1)));
    const pace = await openLoop(perSecond, seconds, async () => {
      const sentMs = performance.now();
      const { modelIds } = await mutate(pool, target, 1);
      sent.push({ id: modelIds[0] ?? '', sentMs, repliedMs: performance.now() });
    });
    const changes = sent.length + perSecond * WARM_UP_SECONDS;
    await untilReceived(socket === undefined ? [] : [socket], changes, SILENT_MS, DEADLINE_MS);
    const after = cpuMs();
    const cpuMsPerChange = before === null || after === null ? null : (after - before) / changes;
    const commits = databaseUrl === undefined ? null : await commitsOf(databaseUrl, target, sent);
    return { pace, cpuMsPerChange, ...latencies(sent, socket?.arrivals ?? NOTHING, commits) };
  } finally {
    for (const one of [...others, socket]) one?.close();
    await pool.close();
  }
}

const NOTHING: ReadonlyMap<string, number> = new Map();

export interface Sent {
  readonly id: string;
  readonly sentMs: number;
  readonly repliedMs: number;
}

/** The commit time of each change, in milliseconds of `performance.now`. */
export async function commitsOf(
  databaseUrl: string,
  { log }: Target,
  sent: readonly Sent[],
): Promise<Map<string, number>> {
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

export function latencies(
  sent: readonly Sent[],
  arrivals: ReadonlyMap<string, number>,
  commits: ReadonlyMap<string, number> | null,
): Pick<Latency, 'fromCommit' | 'fromSend' | 'fromReply' | 'missing'> {
  const [fromSend, fromCommit, fromReply] = [[], [], []] as [number[], number[], number[]];
  for (const { id, sentMs, repliedMs } of sent) {
    const atMs = arrivals.get(id);
    if (atMs === undefined) continue;
    fromSend.push(atMs - sentMs);
    fromReply.push(Math.max(0, atMs - repliedMs));
    fromCommit.push(atMs - (commits?.get(id) ?? Number.NaN));
  }
  return {
    fromSend: percentiles(fromSend),
    fromCommit: commits === null ? null : percentiles(fromCommit),
    fromReply: percentiles(fromReply),
    missing: sent.length - fromSend.length,
  };
}
