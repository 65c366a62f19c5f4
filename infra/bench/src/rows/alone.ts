import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { cpuMsOf } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { all, isMost, ms, ratioText } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { measureLatency, type Latency } from './live.ts';

/** Few enough that one change ends before the next one begins. */
export const ALONE = { perSecond: 20, sockets: 10 } as const;

/** One change alone: the CPU of all services for it, and the time until the last of ten sockets has it. */
export async function aloneRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, seconds, sizes } = context;
  const { warmUpSeconds } = sizes;
  const servicesCpuMs = (): number | null =>
    cpuMsOf([...testSystem.services.flatMap(({ pid }) => pid ?? []), testSystem.nats.pid()]);
  const measured = await alternate<'ours' | 'peer', Latency>(rounds, {
    ours: () => measureLatency(ours, { ...ALONE, seconds, warmUpSeconds, cpuMs: servicesCpuMs }),
    peer: peer === null ? undefined : () => measureLatency(peer, { ...ALONE, seconds, warmUpSeconds }),
  });
  const [cpuRatio, p50Ratio] = [
    ratioOf(measured.ours.map(cpu), measured.peer.map(cpu)),
    ratioOf(measured.ours.map(p50), measured.peer.map(p50)),
  ];
  const { cpuRatioMax, p50RatioMax } = GOALS.alone;
  return {
    rows: [
      {
        what: `one change alone, ${ALONE.sockets} sockets`,
        ours: textOf(median(measured.ours, cpu)),
        against: peer === null ? '' : `${peer.name} ${textOf(median(measured.peer, cpu))}`,
        ratio: peer === null ? '' : `CPU ${ratioText(cpuRatio)}, p50 ${ratioText(p50Ratio)}`,
        goal: `CPU <= ${cpuRatioMax}x, p50 <= ${p50RatioMax}x`,
        isReached: all(isMost(cpuRatio, cpuRatioMax), isMost(p50Ratio, p50RatioMax)),
      },
    ],
    raw: measured,
  };
}

const cpu = ({ cpuMsPerChange }: Latency): number => cpuMsPerChange ?? Number.NaN;
const p50 = ({ fromSend }: Latency): number => fromSend.p50Ms;
const textOf = (one: Latency): string => `CPU ${ms(cpu(one))}, p50 ${ms(p50(one))}`;
