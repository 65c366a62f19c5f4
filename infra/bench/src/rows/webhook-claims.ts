import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { percentiles, type Percentiles } from '../load.ts';
import { count, ms } from '../report.ts';
import type { Endpoint, Endpoints } from '../webhooks/endpoints.ts';

const FEW = 5_000;
const MANY = 100_000;
const MANY_FULL = 1_000_000;
const AT_ONCE = 50_000;
const TIMES = 5;
/** Until the dispatcher has given the lane of a disabled endpoint back, which it does within half a second. */
const RELEASED_MS = 700;
const DEADLINE_MS = 10_000;
const RATIO_MAX = 2;

/** From the request that enables an endpoint with many pending deliveries to the first of them, beside one with few. */
export async function claimRows({ isFull }: BenchmarkContext, endpoints: Endpoints): Promise<BenchmarkResult> {
  const [endpoint] = endpoints.all as [Endpoint];
  const many = isFull ? MANY_FULL : MANY;
  await endpoints.enableOnly([]);
  await endpoints.queue([endpoint], FEW);
  await pause(RELEASED_MS);
  const few = await claims(endpoints, endpoint);
  for (let left = many; left > 0; left -= AT_ONCE) await endpoints.queue([endpoint], AT_ONCE);
  await pause(RELEASED_MS);
  const all = await claims(endpoints, endpoint);
  const ratio = all.p50Ms / few.p50Ms;
  return {
    rows: [
      {
        what: `claim of a lane with ${count(many)} pending, until its first attempt`,
        ours: `p50 ${ms(all.p50Ms)}`,
        against: `with ${count(FEW)} p50 ${ms(few.p50Ms)}`,
        ratio: `${ratio.toFixed(1)}x`,
        goal: `<= ${RATIO_MAX}x`,
        isReached: ratio <= RATIO_MAX,
      },
    ],
    raw: { few, all },
  };
}

async function claims(endpoints: Endpoints, endpoint: Endpoint): Promise<Percentiles> {
  const timesMs: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    await endpoints.take();
    const startMs = performance.timeOrigin + performance.now();
    await endpoints.setEnabled(endpoint, true);
    let [first] = await endpoints.take();
    while (first === undefined) {
      if (performance.timeOrigin + performance.now() > startMs + DEADLINE_MS) throw new Error('nothing was attempted');
      await pause(1);
      [first] = await endpoints.take();
    }
    timesMs.push(first.atMs - startMs);
    await endpoints.setEnabled(endpoint, false);
    await pause(RELEASED_MS);
  }
  return percentiles(timesMs);
}
