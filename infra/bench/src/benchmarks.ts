import { INSPECT_OPTION } from './memory.ts';
import { aloneRows } from './rows/alone.ts';
import { bootstrapRows } from './rows/bootstrap.ts';
import { deltaRows } from './rows/deltas.ts';
import { fanoutRows } from './rows/fanout.ts';
import { followerRows } from './rows/follower.ts';
import { growthLines } from './rows/growth.ts';
import { graphqlRows } from './rows/graphql.ts';
import { hopRows } from './rows/hop.ts';
import { COMMIT_TIMES, liveRows } from './rows/live.ts';
import { memoryRows } from './rows/memory.ts';
import { missingRows } from './rows/missing.ts';
import { mutateRows } from './rows/mutate.ts';
import { neighborRows } from './rows/neighbor.ts';
import { peopleRows } from './rows/people.ts';
import { purgeRows } from './rows/purge.ts';
import { repeatRows } from './rows/repeats.ts';
import { startRows } from './rows/start.ts';
import { stalledRows } from './rows/stalled.ts';
import { tracesRows } from './rows/traces.ts';
import { transferRows } from './rows/transfer.ts';
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
  alone: { seconds: 35, secondsFull: 45, measure: aloneRows },
  missing: { seconds: 35, secondsFull: 45, measure: missingRows },
  live: { seconds: 65, secondsFull: 90, measure: liveRows, start: { postgres: COMMIT_TIMES } },
  bootstrap: { seconds: 60, secondsFull: 60, measure: bootstrapRows },
  fanout: { seconds: 60, secondsFull: 60, measure: fanoutRows },
  stalled: { seconds: 80, secondsFull: 80, measure: stalledRows, start: { nodeOptions: INSPECT_OPTION } },
  deltas: { seconds: 80, secondsFull: 200, measure: deltaRows },
  hop: { seconds: 45, secondsFull: 70, measure: hopRows },
  neighbor: { seconds: 420, secondsFull: 600, measure: neighborRows },
  people: { seconds: 300, secondsFull: 500, measure: peopleRows },
  webhooks: { seconds: 115, secondsFull: 240, measure: webhookRows, start: { postgres: COMMIT_TIMES } },
  follower: { seconds: 40, secondsFull: 50, measure: followerRows },
  traces: { seconds: 140, secondsFull: 190, measure: tracesRows },
  graphql: { seconds: 110, secondsFull: 160, measure: graphqlRows },
  purge: { seconds: 90, secondsFull: 1_200, measure: purgeRows },
  repeats: { seconds: 90, secondsFull: 300, measure: repeatRows },
  transfer: { seconds: 70, secondsFull: 75, measure: transferRows },
  start: { seconds: 10, secondsFull: 10, measure: startRows },
  memory: { seconds: 35, secondsFull: 50, measure: memoryRows, start: { postgres: { shared_buffers: '128MB' } } },
  growth: { seconds: 150, secondsFull: 480, measure: growthLines },
} satisfies Record<string, Benchmark>;

export type BenchmarkName = keyof typeof BENCHMARKS;

export const BENCHMARK_NAMES = Object.keys(BENCHMARKS) as readonly BenchmarkName[];
