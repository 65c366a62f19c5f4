import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { GOALS } from '../goals.ts';
import { percentiles, type Percentiles } from '../load.ts';
import { count, ms } from '../report.ts';
import type { Endpoint, Endpoints } from '../webhooks/endpoints.ts';

const AT_ONCE = 50_000;
/** Until the dispatcher has given the lane of a disabled endpoint back, which it does within half a second. */
const RELEASED_MS = 700;
const DEADLINE_MS = 10_000;

/** From the request that enables an endpoint with many pending deliveries to the first of them, beside one with few. */
export async function claimRows({ sizes }: BenchmarkContext, endpoints: Endpoints): Promise<BenchmarkResult> {
  const [endpoint] = endpoints.all as [Endpoint];
  const { few, many, times } = sizes.webhooks.claims;
  await endpoints.enableOnly([]);
  await endpoints.queue([endpoint], few);
  await pause(RELEASED_MS);
  const fewTimes = await claims(endpoints, endpoint, times);
  for (let left = many; left > 0; left -= AT_ONCE) await endpoints.queue([endpoint], Math.min(left, AT_ONCE));
  await pause(RELEASED_MS);
  const manyTimes = await claims(endpoints, endpoint, times);
  const ratio = manyTimes.p50Ms / fewTimes.p50Ms;
  return {
    rows: [
      {
        what: `claim of a lane with ${count(many)} pending, until its first attempt`,
        ours: `p50 ${ms(manyTimes.p50Ms)}`,
        against: `with ${count(few)} p50 ${ms(fewTimes.p50Ms)}`,
        ratio: `${ratio.toFixed(1)}x`,
        goal: `<= ${GOALS.webhookClaim.ratioMax}x`,
        isReached: ratio <= GOALS.webhookClaim.ratioMax,
      },
    ],
    raw: { few: fewTimes, many: manyTimes },
  };
}

async function claims(endpoints: Endpoints, endpoint: Endpoint, times: number): Promise<Percentiles> {
  const timesMs: number[] = [];
  for (let time = 0; time < times; time += 1) {
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
