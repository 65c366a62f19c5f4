/** What a process took at a moment. */
export interface Sample {
  readonly atMs: number;
  readonly megabytes: number;
}

/** A process from its start to its end; the next one of that name begins small again. */
export interface Life {
  readonly process: string;
  readonly bornMs: number;
  readonly samples: readonly Sample[];
}

export interface MemoryRules {
  /** Growth of a young process says nothing: caches fill, the ring of recent entries reaches its age. */
  readonly warmUpMs: number;
  /** Since then the load is the same. What follows a load rises and falls with it, and says nothing either. */
  readonly steadySinceMs: number;
  /** A life is judged when it was looked at for this long after its warm-up. */
  readonly judgedMsMin: number;
  readonly perMinuteMax: number;
}

export interface Growth {
  readonly process: string;
  /** Megabytes a minute in the life that grew most. Null when no life was long enough to say: then nothing is shown. */
  readonly perMinute: number | null;
  readonly judgedProcesses: number;
  readonly latest: number;
  readonly peak: number;
  readonly isFlat: boolean;
}

const SAMPLES_MIN = 10;
/** Every pair of samples is looked at: of a run of a day, so many are enough. */
const SAMPLES_MAX = 400;

/**
 * Judges each life by itself and after its warm-up: a fit over several lives would take a restart for shrinking, and one
 * that begins at birth would take warming up for a leak. A process is flat when it was judged, and no life of it grew.
 */
export function judgeMemory(lives: readonly Life[], rules: MemoryRules): Growth[] {
  return [...Map.groupBy(lives, ({ process }) => process)].map(([process, ofIt]) => {
    const slopes = ofIt.flatMap((life) => slopeOf(life, rules) ?? []);
    const perMinute = slopes.length === 0 ? null : Math.max(...slopes);
    const samples = ofIt.flatMap((life) => life.samples);
    return {
      process,
      perMinute,
      judgedProcesses: slopes.length,
      latest: samples.reduce((last, one) => (one.atMs >= last.atMs ? one : last), { atMs: 0, megabytes: 0 }).megabytes,
      peak: samples.reduce((most, { megabytes }) => Math.max(most, megabytes), 0),
      isFlat: perMinute !== null && perMinute <= rules.perMinuteMax,
    };
  });
}

function slopeOf({ bornMs, samples }: Life, { warmUpMs, steadySinceMs, judgedMsMin }: MemoryRules): number | null {
  const warm = samples.filter(({ atMs }) => atMs >= Math.max(bornMs, steadySinceMs) + warmUpMs);
  const judgedMs = (warm.at(-1)?.atMs ?? 0) - (warm[0]?.atMs ?? 0);
  return warm.length < SAMPLES_MIN || judgedMs < judgedMsMin ? null : robustSlope(thin(warm));
}

function thin(samples: readonly Sample[]): readonly Sample[] {
  const step = Math.ceil(samples.length / SAMPLES_MAX);
  return samples.filter((_, index) => index % step === 0);
}

/**
 * Megabytes a minute: the median of the slopes between any two samples (Theil and Sen). Up to a quarter of the samples
 * may be anything, such as one taken in the middle of a large answer, and it does not move.
 */
export function robustSlope(samples: readonly Sample[]): number {
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
