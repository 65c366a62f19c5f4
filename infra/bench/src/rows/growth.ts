import type { World } from '@wts/testkit';
import { residentOf, type Door } from '../door.ts';
import { plot, type Line } from '../plot.ts';
import { keepText, number } from '../report.ts';
import { closedLoop } from '../load.ts';
import { mutate, openClients } from '../traffic.ts';
import { load } from './bootstrap.ts';
import { growLog, readPages } from './deltas.ts';
import { measureLatency } from './live.ts';

export interface GrowthSizes {
  readonly tasks: readonly number[];
  readonly groups: readonly number[];
  readonly sockets: readonly number[];
}

export const QUICK: GrowthSizes = { tasks: [10_000, 100_000], groups: [1, 10, 100], sockets: [10, 100] };
export const FULL: GrowthSizes = {
  tasks: [10_000, 100_000, 1_000_000],
  groups: [1, 10, 100],
  sockets: [10, 100, 1_000],
};
const LOG_ENTRIES = 200_000;
const PACE_PER_SECOND = 100;

/** How the cost of one thing grows with the size of another. A flat line is a cost that does not. */
export async function measureGrowth(world: World, ours: Door, sizes: GrowthSizes, seconds: number): Promise<string> {
  const lines: Line[] = [];
  const bootstrap: Line = { name: 'bootstrap, ms per 1,000 tasks', axis: 'tasks', points: [] };
  const change: Line = { name: 'one change, p50 ms', axis: 'tasks', points: [] };
  const resident: Line = { name: 'memory of sync, MB', axis: 'tasks', points: [] };
  let seeded = 0;
  for (const tasks of sizes.tasks) {
    await ours.seedTasks(tasks - seeded);
    seeded = tasks;
    const { rows, perSecond } = await load(ours, 1);
    bootstrap.points.push({ size: rows, cost: 1_000_000 / perSecond });
    change.points.push({ size: tasks, cost: await changeMs(ours, seconds) });
    resident.points.push({ size: tasks, cost: await residentOf(ours.pid()) });
  }
  const live: Line = { name: 'change -> all sockets, p50 ms', axis: 'sockets', points: [] };
  for (const sockets of sizes.sockets) {
    const { fromSend } = await measureLatency(world, PACE_PER_SECOND, seconds, sockets);
    live.points.push({ size: sockets, cost: fromSend.p50Ms });
  }
  const page: Line = { name: 'delta page of 1,000, p50 ms', axis: 'groups', points: [] };
  const log = await growLog(world, ours, LOG_ENTRIES);
  for (const groups of sizes.groups) {
    page.points.push({ size: groups, cost: (await readPages(ours, log, groups, seconds)).p50Ms });
  }
  lines.push(bootstrap, change, resident, live, page);
  await keepText('growth.svg', plot(lines));
  const table = [
    '| what | with | cost |',
    '|---|---|---|',
    ...lines.flatMap(({ name, axis, points }) =>
      points.map(({ size, cost }) => `| ${name} | ${number(size)} ${axis} | ${cost.toFixed(2)} |`),
    ),
  ].join('\n');
  await keepText('growth.md', `# How cost grows\n\n![plot](growth.svg)\n\n${table}\n`);
  return table;
}

async function changeMs(ours: Door, seconds: number): Promise<number> {
  const pool = openClients(ours.baseUrl, 1);
  try {
    const { p50Ms } = await closedLoop(1, seconds, async () => (await mutate(pool, ours, 1)).results.length);
    return p50Ms;
  } finally {
    await pool.close();
  }
}
