export interface MemorySample {
  readonly atMs: number;
  readonly megabytes: number;
}

/** One process from its start to its exit. A restarted service has another one with the same name. */
export interface ProcessRun {
  readonly process: string;
  readonly startedMs: number;
  readonly samples: readonly MemorySample[];
}

export interface MemoryRules {
  /** Growth in this time does not count: caches fill, and the ring of recent entries reaches its age. */
  readonly warmUpMs: number;
  /** From here on the load is constant. Memory that follows the load says nothing about leaks. */
  readonly steadySinceMs: number;
  /** A process must be watched for this long after its warm-up. */
  readonly watchedMsMin: number;
  readonly perMinuteMax: number;
}

export interface Growth {
  readonly process: string;
  /** Megabytes per minute of the run that grew most. Null: no run was watched for long enough. */
  readonly perMinute: number | null;
  readonly runs: number;
  readonly latest: number;
  readonly peak: number;
  readonly isFlat: boolean;
}

const SAMPLES_MIN = 10;
/** The slope compares every pair of samples: of a run of a day, so many are enough. */
const SAMPLES_MAX = 400;

/**
 * Measures the growth of each run after its warm-up. One slope over several runs would count a restart as shrinking, and a
 * slope from the start would count the warm-up as a leak. A process is flat when at least one run was watched for long enough
 * and none grew.
 */
export function measureGrowth(runs: readonly ProcessRun[], rules: MemoryRules): Growth[] {
  return [...Map.groupBy(runs, (run) => run.process)].map(([process, ofProcess]) => {
    const slopes = ofProcess.flatMap((run) => slopeOf(run, rules) ?? []);
    const perMinute = slopes.length === 0 ? null : Math.max(...slopes);
    const samples = ofProcess.flatMap((run) => run.samples);
    return {
      process,
      perMinute,
      runs: slopes.length,
      latest: samples.reduce((last, one) => (one.atMs >= last.atMs ? one : last), { atMs: 0, megabytes: 0 }).megabytes,
      peak: samples.reduce((most, { megabytes }) => Math.max(most, megabytes), 0),
      isFlat: perMinute !== null && perMinute <= rules.perMinuteMax,
    };
  });
}

function slopeOf({ startedMs, samples }: ProcessRun, rules: MemoryRules): number | null {
  const { warmUpMs, steadySinceMs, watchedMsMin } = rules;
  const warm = samples.filter(({ atMs }) => atMs >= Math.max(startedMs, steadySinceMs) + warmUpMs);
  const watchedMs = (warm.at(-1)?.atMs ?? 0) - (warm[0]?.atMs ?? 0);
  return warm.length < SAMPLES_MIN || watchedMs < watchedMsMin ? null : robustSlope(thin(warm));
}

function thin(samples: readonly MemorySample[]): readonly MemorySample[] {
  const step = Math.ceil(samples.length / SAMPLES_MAX);
  return samples.filter((_, index) => index % step === 0);
}

/**
 * Megabytes per minute: the median of the slopes between any two samples (Theil-Sen estimator). Outliers in up to a quarter of
 * the samples, such as one taken during a large response, do not change it.
 */
export function robustSlope(samples: readonly MemorySample[]): number {
  const slopes = samples.flatMap((one, index) =>
    samples
      .slice(index + 1)
      .filter(({ atMs }) => atMs !== one.atMs)
      .map((other) => ((other.megabytes - one.megabytes) / (other.atMs - one.atMs)) * 60_000),
  );
  slopes.sort((a, b) => a - b);
  const middle = slopes.length >> 1;
  const upper = slopes[middle] ?? 0;
  return slopes.length % 2 === 1 ? upper : (upper + (slopes[middle - 1] ?? upper)) / 2;
}
