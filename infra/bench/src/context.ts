import type { TestAuthority, TestSystem } from '@wts/testkit';
import type { Target } from './target.ts';
import type { Peer } from './peer.ts';
import type { MeasuredSystem } from './system.ts';
import type { GrowthLine } from './growth-line.ts';
import type { ReportRow } from './report.ts';
import type { Sizes } from './sizes.ts';

/** What a benchmark measures. Each one gets a new system, so that the data of another does not change its results. */
export interface BenchmarkContext {
  readonly testSystem: TestSystem;
  readonly ours: Target;
  readonly peer: Peer | null;
  readonly authority: TestAuthority;
  readonly rounds: number;
  readonly seconds: number;
  readonly sizes: Sizes;
  /** Starts one more system, whose services have these settings besides. */
  readonly openOther: (settings: Readonly<Record<string, string>>) => Promise<MeasuredSystem>;
  readonly print: (text: string) => void;
}

export interface BenchmarkResult {
  readonly rows: readonly ReportRow[];

  readonly lines?: readonly GrowthLine[];
  /** All measurements, round by round. */
  readonly raw: unknown;
}
