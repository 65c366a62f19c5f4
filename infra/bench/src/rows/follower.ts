import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { cpuMsOf, cpuMsOfTrees } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { isMost, ms, percent } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { writeLoop } from './mutate.ts';

const CLIENTS = 16;
const READY_MS = 30_000;
const CAUGHT_UP_MS = 120_000;
const POLL_MS = 300;
/** A dispatcher that reads the log uses more CPU than this between two polls. */
const IDLE_CPU_MS = 20;

/** The CPU of a change with a dispatcher that has no endpoint, beside the same system without a dispatcher. */
export async function followerRows({
  testSystem,
  ours,
  rounds,
  seconds,
  sizes,
}: BenchmarkContext): Promise<BenchmarkResult> {
  const dispatcher = testSystem.service('webhook-dispatcher');
  const measure = async (): Promise<number> => {
    const roots = [
      ...testSystem.services.flatMap(({ pid }) => pid ?? []),
      testSystem.postgres.pid(),
      testSystem.nats.pid(),
    ];
    const beforeMs = cpuMsOfTrees(roots);
    const { perSecond } = await writeLoop(ours, CLIENTS, 1, seconds);
    return (cpuMsOfTrees(roots) - beforeMs) / (perSecond * seconds);
  };
  await writeLoop(ours, CLIENTS, 1, sizes.warmUpSeconds);
  const measured = await alternate<'with' | 'without', number>(rounds, {
    with: async () => {
      if (dispatcher.pid === null) await dispatcher.start();
      await dispatcher.untilReady(READY_MS);
      await untilIdle(() => cpuMsOf([dispatcher.pid ?? 0]) ?? 0);
      return measure();
    },
    without: async () => {
      await dispatcher.stop();
      return measure();
    },
  });
  if (dispatcher.pid === null) await dispatcher.start();
  const ratio = ratioOf(measured.with, measured.without);
  const middle = (values: readonly number[]): number => median(values, (one) => one);
  const { shareMax } = GOALS.follower;
  return {
    rows: [
      {
        what: 'CPU of a change with a dispatcher without endpoints',
        ours: ms(middle(measured.with)),
        against: `without a dispatcher ${ms(middle(measured.without))}`,
        ratio:
          ratio === null
            ? ''
            : `+${percent(ratio.middle - 1)} (${percent(ratio.least - 1)} to ${percent(ratio.most - 1)})`,
        goal: `<= +${percent(shareMax)}`,
        isReached: isMost(ratio, 1 + shareMax),
      },
    ],
    raw: measured,
  };
}

/** Until it has read what was written while it was stopped. */
async function untilIdle(cpuMs: () => number): Promise<void> {
  const until = performance.now() + CAUGHT_UP_MS;
  for (let [before, now] = [-Infinity, cpuMs()]; now - before > IDLE_CPU_MS;) {
    if (performance.now() > until) throw new Error('the dispatcher still reads the log');
    await pause(POLL_MS);
    [before, now] = [now, cpuMs()];
  }
}
