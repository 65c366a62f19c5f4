import type { Target } from '../target.ts';
import { GOALS } from '../goals.ts';
import type { Measured } from '../load.ts';
import type { GrowthLine } from '../growth-line.ts';
import { count, number, type ReportRow } from '../report.ts';
import { alternateWithPeer, median } from '../rounds.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { load, type Loaded } from './bootstrap.ts';
import type { LargeLog } from '../large-log.ts';
import { readPages } from './deltas.ts';
import { measureLatency, type Latency } from './live.ts';
import { writeLoop } from './mutate.ts';

/** A pace that both can keep with a thousand sockets, because the benchmark measures cost and not overload. */
const PACE_PER_SECOND = 20;
const SECONDS_MAX = 3;
/** From here on one load takes so long that a short disturbance has no effect. */
const LARGE_TASKS = 1_000_000;
/** The heap grows to its usual size with the first responses, which do not count. */
const WARM_UPS = 3;

/** Measures how costs grow with the number of tasks, sockets and groups. */
export async function growthLines(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { growth: sizes } = context.sizes;
  const lines = new LineCollector(context);
  await overTasks(lines, sizes.tasks);
  await overSockets(lines, sizes.sockets);
  await overGroups(lines, sizes.groups, sizes.entries);
  return { rows: memoryRows(context, lines.all), lines: lines.all, raw: lines.all };
}

const MEMORY = 'memory, at most';

type Contender = 'ours' | 'peer';

/** Measures ours and the peer alternately, and collects the points of each line. */
class LineCollector {
  readonly all: GrowthLine[] = [];
  readonly context: BenchmarkContext;

  constructor(context: BenchmarkContext) {
    this.context = context;
  }

  get targets(): readonly Target[] {
    const { ours, peer } = this.context;
    return peer === null ? [ours] : [ours, peer];
  }

  measure<T>(rounds: number, measure: (target: Target) => Promise<T>): Promise<Record<Contender, readonly T[]>> {
    return alternateWithPeer(rounds, this.context, measure);
  }

  add<T>(
    line: Omit<GrowthLine, 'who' | 'points'>,
    size: number,
    measured: Record<Contender, readonly T[]>,
    cost: (one: T) => number,
  ): void {
    for (const who of ['ours', 'peer'] as const) {
      if (measured[who].length === 0) continue;
      const point = { size, cost: median(measured[who].map(cost), (one) => one) };
      const at = this.all.findIndex((one) => one.name === line.name && one.axis === line.axis && one.who === who);
      const { points = [] } = this.all[at] ?? {};
      this.all.splice(at < 0 ? this.all.length : at, at < 0 ? 0 : 1, { ...line, who, points: [...points, point] });
    }
  }
}

async function overTasks(lines: LineCollector, counts: readonly number[]): Promise<void> {
  const {
    rounds,
    seconds,
    sizes: { bootstrapMs: forMs },
    print,
  } = lines.context;
  let seeded = 0;
  for (const tasks of counts) {
    for (const target of lines.targets) await target.seedTasks(tasks - seeded);
    print(`loaded ${count(tasks)} tasks`);
    for (let time = 0; seeded === 0 && time < WARM_UPS; time += 1)
      await lines.measure(1, (target) => load(target, 10, { rowsMin: tasks, forMs }));
    seeded = tasks;
    const axis = 'tasks in the workspace';
    const loaded = await lines.measure<Loaded>(tasks >= LARGE_TASKS ? 1 : rounds, (target) =>
      load(target, 1, { rowsMin: tasks, forMs }),
    );
    lines.add({ name: 'bootstrap, each 1,000', unit: 'ms', axis }, tasks, loaded, ({ perSecond }) => 1e6 / perSecond);
    lines.add({ name: MEMORY, unit: 'MB', axis }, tasks, loaded, ({ peakMb }) => peakMb);
    const changed = await lines.measure<Measured>(rounds, (target) =>
      writeLoop(target, 1, 1, Math.min(seconds, SECONDS_MAX)),
    );
    lines.add({ name: 'one change, p50', unit: 'ms', axis }, tasks, changed, ({ p50Ms }) => p50Ms);
  }
}

async function overSockets(lines: LineCollector, sizes: readonly number[]): Promise<void> {
  const { rounds, seconds, print } = lines.context;
  const axis = 'sockets';
  for (const sockets of sizes) {
    const received = await lines.measure<Latency>(rounds, (target) =>
      measureLatency(target, {
        perSecond: PACE_PER_SECOND,
        seconds: Math.min(seconds, SECONDS_MAX),
        warmUpSeconds: lines.context.sizes.warmUpSeconds,
        sockets,
      }),
    );
    lines.add(
      { name: 'to the last socket, p50', unit: 'ms', axis },
      sockets,
      received,
      ({ fromSend }) => fromSend.p50Ms,
    );
    lines.add({ name: 'CPU of a change', unit: 'ms', axis }, sockets, received, (one) => one.cpuMsPerChange ?? 0);
    print(`measured ${count(sockets)} sockets`);
  }
}

async function overGroups(lines: LineCollector, sizes: readonly number[], entries: number): Promise<void> {
  const {
    rounds,
    seconds,
    sizes: {
      deltas: { page },
      statisticsMs,
    },
    print,
  } = lines.context;
  const logs = new Map<Target, LargeLog>();
  for (const target of lines.targets) logs.set(target, await target.growLog(entries, statisticsMs));
  print(`the log has ${count(entries)} entries`);
  for (const groups of sizes) {
    const read = await lines.measure<Measured>(rounds, async (target) => {
      const log = logs.get(target);
      if (log === undefined) throw new Error(`${target.name} has no log`);
      return readPages(target, log, { groups, page, seconds: Math.min(seconds, SECONDS_MAX) });
    });
    lines.add(
      { name: `page of ${count(page)}, p50`, unit: 'ms', axis: 'groups of the reader' },
      groups,
      read,
      ({ p50Ms }) => p50Ms,
    );
  }
}

/** Memory is flat when it does not grow with the number of tasks. */
function memoryRows({ peer }: BenchmarkContext, lines: readonly GrowthLine[]): ReportRow[] {
  const of = (who: Contender): GrowthLine['points'] =>
    lines.find((line) => line.who === who && line.name === MEMORY)?.points ?? [];
  const textOf = (all: GrowthLine['points']): string => `${all.map(({ cost }) => number(cost)).join(', ')} MB`;
  const points = of('ours');
  const growth = (points.at(-1)?.cost ?? Infinity) / (points[0]?.cost ?? 0);
  const hasGoal = (points.at(-1)?.size ?? 0) >= GOALS.growth.sizeRatioMin * (points[0]?.size ?? Infinity);
  return [
    {
      what: `memory while ${points.map(({ size }) => count(size)).join(', ')} tasks are loaded`,
      ours: textOf(points),
      against: peer === null ? '' : `${peer.name} ${textOf(of('peer'))}`,
      ratio: `${growth.toFixed(2)}x from first to last`,
      goal: hasGoal ? `flat: <= ${GOALS.growth.memoryRatioMax}x` : '',
      isReached: hasGoal ? growth <= GOALS.growth.memoryRatioMax : null,
    },
  ];
}
