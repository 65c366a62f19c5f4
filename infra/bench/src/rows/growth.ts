import type { Target } from '../target.ts';
import { closedLoop, type Measured } from '../load.ts';
import type { Line } from '../plot.ts';
import { count, number, type Row } from '../report.ts';
import { inTurns, median } from '../rounds.ts';
import type { Findings, Scene } from '../scene.ts';
import { mutate, openClients } from '../traffic.ts';
import { load, type Loaded } from './bootstrap.ts';
import { growLog, readPages } from './deltas.ts';
import { measureLatency, type Latency } from './live.ts';
import { growPeerLog } from './peer-log.ts';

export interface GrowthSizes {
  readonly tasks: readonly number[];
  readonly groups: readonly number[];
  readonly sockets: readonly number[];
}

export const QUICK: GrowthSizes = { tasks: [10_000, 100_000], groups: [1, 10, 100], sockets: [10, 100, 1_000] };
export const FULL: GrowthSizes = { ...QUICK, tasks: [10_000, 100_000, 1_000_000] };
const LOG_ENTRIES = 200_000;
/** What both can keep up with before a thousand sockets: cost is to be seen, not overload. */
const PACE_PER_SECOND = 20;
const SECONDS_MAX = 3;
/** From here on one reading takes so long that a short disturbance does not show. */
const LARGE_TASKS = 1_000_000;
/** A heap finds its size with the first answers; only then does more of it mean anything. */
const WARM_UPS = 3;
/** A heap breathes: what matters is that a hundred times as much to load is not seen in it. */
const FLAT = { ratioMax: 1.5, growthMin: 100 };

/** How the cost of one thing grows with the size of another. A flat line is a cost that does not. */
export async function growthLines(scene: Scene, sizes: GrowthSizes): Promise<Findings> {
  const lines = new Lines(scene);
  await overTasks(lines, sizes.tasks);
  await overSockets(lines, sizes.sockets);
  await overGroups(lines, sizes.groups);
  return { rows: memoryRows(scene, lines.all), lines: lines.all, raw: lines.all };
}

const MEMORY = 'memory, at most';

type Contender = 'ours' | 'peer';

/** Gathers points into lines; measures ours and the peer by turns. */
class Lines {
  readonly all: Line[] = [];
  readonly scene: Scene;

  constructor(scene: Scene) {
    this.scene = scene;
  }

  get targets(): readonly Target[] {
    const { ours, peer } = this.scene;
    return peer === null ? [ours] : [ours, peer];
  }

  async take<T>(rounds: number, measure: (target: Target) => Promise<T>): Promise<Record<Contender, readonly T[]>> {
    const { ours, peer } = this.scene;
    return inTurns<Contender, T>(rounds, {
      ours: () => measure(ours),
      peer: peer === null ? undefined : () => measure(peer),
    });
  }

  add<T>(
    line: Omit<Line, 'who' | 'points'>,
    size: number,
    measured: Record<Contender, readonly T[]>,
    cost: (one: T) => number,
  ): void {
    for (const who of ['ours', 'peer'] as const) {
      if (measured[who].length === 0) continue;
      const point = { size, cost: median(measured[who].map(cost), (one) => one) };
      const known = this.all.findIndex((one) => one.name === line.name && one.axis === line.axis && one.who === who);
      const { points = [] } = this.all[known] ?? {};
      this.all.splice(known < 0 ? this.all.length : known, known < 0 ? 0 : 1, {
        ...line,
        who,
        points: [...points, point],
      });
    }
  }
}

async function overTasks(lines: Lines, sizes: readonly number[]): Promise<void> {
  const { rounds, seconds, say } = lines.scene;
  let seeded = 0;
  for (const tasks of sizes) {
    for (const target of lines.targets) await target.seedTasks(tasks - seeded);
    say(`${count(tasks)} tasks are there`);
    for (let time = 0; seeded === 0 && time < WARM_UPS; time += 1)
      await lines.take(1, (target) => load(target, 10, tasks));
    seeded = tasks;
    const axis = 'tasks in the workspace';
    const loaded = await lines.take<Loaded>(tasks >= LARGE_TASKS ? 1 : rounds, (target) => load(target, 1, tasks));
    lines.add({ name: 'bootstrap, each 1,000', unit: 'ms', axis }, tasks, loaded, ({ perSecond }) => 1e6 / perSecond);
    lines.add({ name: MEMORY, unit: 'MB', axis }, tasks, loaded, ({ peakMb }) => peakMb);
    const changed = await lines.take<Measured>(rounds, (target) => changes(target, Math.min(seconds, SECONDS_MAX)));
    lines.add({ name: 'one change, p50', unit: 'ms', axis }, tasks, changed, ({ p50Ms }) => p50Ms);
  }
}

async function overSockets(lines: Lines, sizes: readonly number[]): Promise<void> {
  const { rounds, seconds, say } = lines.scene;
  const axis = 'sockets listening';
  for (const sockets of sizes) {
    const heard = await lines.take<Latency>(rounds, (target) =>
      measureLatency(target, { perSecond: PACE_PER_SECOND, seconds: Math.min(seconds, SECONDS_MAX), sockets }),
    );
    lines.add({ name: 'to the last of them, p50', unit: 'ms', axis }, sockets, heard, ({ fromSend }) => fromSend.p50Ms);
    lines.add({ name: 'CPU of a change', unit: 'ms', axis }, sockets, heard, (one) => one.cpuMsPerChange ?? 0);
    say(`${count(sockets)} sockets have heard it`);
  }
}

async function overGroups(lines: Lines, sizes: readonly number[]): Promise<void> {
  const { testSystem, ours, peer, rounds, seconds, say } = lines.scene;
  const logs = new Map([[ours, await growLog(testSystem, ours, LOG_ENTRIES)]]);
  if (peer !== null) logs.set(peer, await growPeerLog(testSystem, LOG_ENTRIES));
  say(`the log has ${count(LOG_ENTRIES)} entries`);
  for (const groups of sizes) {
    const read = await lines.take<Measured>(rounds, async (target) => {
      const log = logs.get(target);
      if (log === undefined) throw new Error(`${target.name} has no log`);
      return readPages(target, log, groups, Math.min(seconds, SECONDS_MAX));
    });
    lines.add(
      { name: 'page of 1,000, p50', unit: 'ms', axis: 'groups of the reader' },
      groups,
      read,
      ({ p50Ms }) => p50Ms,
    );
  }
}

async function changes(target: Target, seconds: number): Promise<Measured> {
  const pool = openClients(target.baseUrl, 1);
  try {
    return await closedLoop(1, seconds, async () => (await mutate(pool, target, 1)).results.length);
  } finally {
    await pool.close();
  }
}

/** Memory is flat when it does not follow what is loaded. */
function memoryRows({ peer }: Scene, lines: readonly Line[]): Row[] {
  const of = (who: Contender): Line['points'] =>
    lines.find((line) => line.who === who && line.name === MEMORY)?.points ?? [];
  const words = (all: Line['points']): string => `${all.map(({ cost }) => number(cost)).join(', ')} MB`;
  const points = of('ours');
  const growth = (points.at(-1)?.cost ?? Infinity) / (points[0]?.cost ?? 0);
  const isTelling = (points.at(-1)?.size ?? 0) >= FLAT.growthMin * (points[0]?.size ?? Infinity);
  return [
    {
      what: `memory while ${points.map(({ size }) => count(size)).join(', ')} tasks are loaded`,
      ours: words(points),
      against: peer === null ? '' : `${peer.name} ${words(of('peer'))}`,
      ratio: `${growth.toFixed(2)}x from first to last`,
      goal: isTelling ? `flat: <= ${FLAT.ratioMax}x` : '',
      isReached: isTelling ? growth <= FLAT.ratioMax : null,
    },
  ];
}
