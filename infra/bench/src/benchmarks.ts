import { INSPECT_OPTION } from './memory.ts';
import { bootstrapRows } from './rows/bootstrap.ts';
import { deltaRows } from './rows/deltas.ts';
import { fanoutRows } from './rows/fanout.ts';
import { FULL, growthLines, QUICK } from './rows/growth.ts';
import { graphqlRows } from './rows/graphql.ts';
import { hopRows } from './rows/hop.ts';
import { COMMIT_TIMES, liveRows } from './rows/live.ts';
import { missingRows } from './rows/missing.ts';
import { mutateRows } from './rows/mutate.ts';
import { neighborRows } from './rows/neighbor.ts';
import { stalledRows } from './rows/stalled.ts';
import { webhookRows } from './rows/webhooks.ts';
import type { BenchmarkResult, BenchmarkContext } from './context.ts';
import type { StartOptions } from './system.ts';

export interface Benchmark {
  /** About how long it takes with the peer: with the defaults, and with --full. */
  readonly seconds: number;
  readonly secondsFull: number;
  readonly measure: (context: BenchmarkContext) => Promise<BenchmarkResult>;
  /** How the measured processes are started. */
  readonly start?: StartOptions;
}

/** In the order of the table in the README. */
export const BENCHMARKS = {
  mutate: { seconds: 75, secondsFull: 110, measure: mutateRows },
  missing: { seconds: 35, secondsFull: 45, measure: missingRows },
  live: { seconds: 65, secondsFull: 90, measure: liveRows, start: { postgres: COMMIT_TIMES } },
  bootstrap: { seconds: 60, secondsFull: 60, measure: bootstrapRows },
  fanout: { seconds: 60, secondsFull: 60, measure: fanoutRows },
  stalled: { seconds: 80, secondsFull: 80, measure: stalledRows, start: { nodeOptions: INSPECT_OPTION } },
  deltas: {
    seconds: 25,
    secondsFull: 120,
    measure: async ({ testSystem, ours, isFull, seconds }: BenchmarkContext) => {
      const rows = await deltaRows(testSystem, ours, isFull ? 2_000_000 : 200_000, seconds);
      return { rows, raw: rows };
    },
  },
  hop: { seconds: 45, secondsFull: 70, measure: hopRows },
  neighbor: { seconds: 420, secondsFull: 600, measure: neighborRows },
  webhooks: { seconds: 115, secondsFull: 240, measure: webhookRows, start: { postgres: COMMIT_TIMES } },
  graphql: { seconds: 110, secondsFull: 160, measure: graphqlRows },
  growth: {
    seconds: 150,
    secondsFull: 480,
    measure: (context: BenchmarkContext) => growthLines(context, context.isFull ? FULL : QUICK),
  },
} satisfies Record<string, Benchmark>;

export type BenchmarkName = keyof typeof BENCHMARKS;

export const BENCHMARK_NAMES = Object.keys(BENCHMARKS) as readonly BenchmarkName[];
