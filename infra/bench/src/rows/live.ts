import { connectTo } from '@wts/testkit';
import { wallClockOffset } from '../clock.ts';
import { cpuMsOf } from '../cpu.ts';
import type { Target } from '../target.ts';
import { subscribeAtHead, untilReceived } from '../subscriber.ts';
import { GOALS } from '../goals.ts';
import { openLoop, percentiles, type Paced, type Percentiles } from '../load.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { isMost, ms, number, ratioText, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { mutate, openClients } from '../traffic.ts';
import { writeLoop } from './mutate.ts';

const IDLE_PER_SECOND = 20;
const CONNECTIONS = 64;
const SILENT_MS = 2_000;
const DEADLINE_MS = 30_000;

/**
 * From the commit of a change to its arrival at another client's socket: at half of the rate that 16 clients reach, beside an
 * almost idle system; and at half of the peer's rate, beside the peer.
 */
export async function liveRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, seconds, sizes, print } = context;
  const { warmUpSeconds } = sizes;
  const measure = (target: Target, perSecond: number): Promise<Latency> =>
    measureLatency(target, { perSecond, seconds, warmUpSeconds, databaseUrl: testSystem.database.url });
  const halfOf = async (target: Target): Promise<number> =>
    Math.max(IDLE_PER_SECOND, Math.round((await writeLoop(target, 16, 1, seconds)).perSecond / 2));
  const half = await halfOf(ours);
  const loaded = await alternate<'half' | 'idle', Latency>(rounds, {
    half: () => measure(ours, half),
    idle: () => measure(ours, IDLE_PER_SECOND),
  });
  const rows = [halfRow(half, median(loaded.half, p99), median(loaded.idle, p99))];
  const raw: Record<string, unknown> = { half: loaded };
  if (peer !== null) {
    const pace = await halfOf(peer);
    const beside = await alternate<'ours' | 'peer', Latency>(rounds, {
      ours: () => measure(ours, pace),
      peer: () => measure(peer, pace),
    });
    const ratio = ratioOf(beside.ours.map(p50), beside.peer.map(p50));
    rows.push({
      what: `commit -> socket at ${number(pace)}/s, half of the peer's rate`,
      ours: textOf(median(beside.ours, p99)),
      against: `${peer.name} ${textOf(median(beside.peer, p99))}`,
      ratio: `p50 ${ratioText(ratio)}`,
      goal: 'p50 <= 1.0x',
      isReached: isMost(ratio, 1),
    });
    raw['peer'] = beside;
  }
  for (const { what, ours: text, against } of rows) print(`${what}: ${text}; ${against}`);
  return { rows, raw };
}

function halfRow(perSecond: number, half: Latency, idle: Latency): ReportRow {
  const { p50RatioMax, p99RatioMax } = GOALS.live;
  const ratios = { p50: p50(half) / p50(idle), p99: p99(half) / p99(idle) };
  return {
    what: `commit -> socket at ${number(perSecond)}/s, half of mutate 16x1`,
    ours: textOf(half),
    against: `at ${IDLE_PER_SECOND}/s ${textOf(idle)}`,
    ratio: `p50 ${ratios.p50.toFixed(1)}x, p99 ${ratios.p99.toFixed(1)}x`,
    goal: `p50 <= ${p50RatioMax}x, p99 <= ${p99RatioMax}x`,
    isReached: half.pace.isKept && half.missing === 0 && ratios.p50 <= p50RatioMax && ratios.p99 <= p99RatioMax,
  };
}

const of = ({ fromCommit, fromSend }: Latency): Percentiles => fromCommit ?? fromSend;
const p50 = (one: Latency): number => of(one).p50Ms;
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
  readonly warmUpSeconds: number;
  /** Default: of the processes between writer and sockets. */
  readonly cpuMs?: () => number | null;
  /** Default 1. */
  readonly sockets?: number;
  /** The database with the commit timestamps; its server must run with `COMMIT_TIMES`. */
  readonly databaseUrl?: string;
}

/** Settings with which PostgreSQL stores commit timestamps. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' } as const;

/** Measures at the socket that subscribed last, because the server sends to it last. */
export async function measureLatency(target: Target, options: LoadOptions): Promise<Latency> {
  const { perSecond, seconds, warmUpSeconds, sockets = 1, databaseUrl } = options;
  await using pool = openClients(target.baseUrl, CONNECTIONS);
  using _others = await subscribeAtHead(target, sockets - 1);
  using last = await subscribeAtHead(target, 1, 'arrivals');
  const sent: Sent[] = [];
  const { cpuMs = () => cpuMsOf(target.processes().map(({ pid }) => pid)) } = options;
  const before = cpuMs();
  await openLoop(perSecond, warmUpSeconds, async () => void (await mutate(pool, target, 1)));
  const pace = await openLoop(perSecond, seconds, async () => {
    const sentMs = performance.now();
    const { modelIds } = await mutate(pool, target, 1);
    sent.push({ id: modelIds[0] ?? '', sentMs, repliedMs: performance.now() });
  });
  const changes = sent.length + Math.round(perSecond * warmUpSeconds);
  await untilReceived(last, changes, SILENT_MS, DEADLINE_MS);
  const after = cpuMs();
  const cpuMsPerChange = before === null || after === null ? null : (after - before) / changes;
  const commits = databaseUrl === undefined ? null : await commitsOf(databaseUrl, target, sent);
  return { pace, cpuMsPerChange, ...latencies(sent, last[0]?.arrivals ?? new Map(), commits) };
}

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
  await using client = await connectTo(databaseUrl);
  const { rows } = await client.query<{ id: string; ms: number }>(
    `select model_id::text as id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as ms
     from ${log.table} where model_id = any($1::uuid[])`,
    [sent.map(({ id }) => id)],
  );
  const offsetMs = wallClockOffset();
  return new Map(rows.map((row) => [row.id, row.ms - offsetMs]));
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
