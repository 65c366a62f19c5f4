import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Caches fill, the ring of recent entries reaches its age, the heap finds its size: growth before this says nothing. */
const WARM_UP_MS = 120_000;
const SAMPLES_MIN = 45;
/** Growth that would be a leak, rather than a heap that is collected when it likes. */
const MB_PER_MINUTE_MAX = 2;

interface Sample {
  readonly atMs: number;
  readonly megabytes: number;
}

export interface Slope {
  readonly process: string;
  readonly megabytes: number;
  /** Null while there are too few samples to say. */
  readonly perMinute: number | null;
  readonly isFlat: boolean;
}

/** Resident memory of processes over time, each life of a process for itself. */
export class Memory {
  readonly #lives = new Map<string, { process: string; samples: Sample[] }>();

  async sample(processes: readonly { name: string; pid: number | null }[]): Promise<void> {
    const alive = processes.filter(({ pid }) => pid !== null);
    const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', alive.map(({ pid }) => pid).join(',')]).catch(
      // It fails when one of them is gone, and tells of the others all the same.
      (error: unknown) => ({ stdout: (error as { stdout?: string }).stdout ?? '' }),
    );
    const resident = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
    );
    for (const { name, pid } of alive) {
      const kilobytes = resident.get(pid ?? 0);
      if (kilobytes === undefined) continue;
      const key = `${name} ${pid}`;
      const life = this.#lives.get(key) ?? { process: name, samples: [] };
      this.#lives.set(key, life);
      life.samples.push({ atMs: performance.now(), megabytes: kilobytes / 1024 });
    }
  }

  latest(): string {
    const newest = new Map<string, number>();
    for (const { process, samples } of this.#lives.values()) newest.set(process, samples.at(-1)?.megabytes ?? 0);
    return [...newest].map(([name, megabytes]) => `${name} ${Math.round(megabytes)}`).join(', ');
  }

  /** Of the last life of each process, after warming up: least squares, and flat when growth is not beyond its error. */
  slopes(): Slope[] {
    const last = new Map<string, Sample[]>();
    for (const { process, samples } of this.#lives.values()) last.set(process, samples);
    return [...last].map(([process, samples]) => {
      const began = samples[0]?.atMs ?? 0;
      const warm = samples.filter(({ atMs }) => atMs - began >= WARM_UP_MS);
      const megabytes = samples.at(-1)?.megabytes ?? 0;
      if (warm.length < SAMPLES_MIN) return { process, megabytes, perMinute: null, isFlat: true };
      const { slope, error } = leastSquares(warm);
      return { process, megabytes, perMinute: slope, isFlat: slope - 2 * error <= MB_PER_MINUTE_MAX };
    });
  }
}

/** Megabytes a minute, and the standard error of it. */
export function leastSquares(samples: readonly Sample[]): { slope: number; error: number } {
  const n = samples.length;
  const minutes = samples.map(({ atMs }) => atMs / 60_000);
  const meanX = minutes.reduce((sum, x) => sum + x, 0) / n;
  const meanY = samples.reduce((sum, { megabytes }) => sum + megabytes, 0) / n;
  let [xx, xy] = [0, 0];
  for (const [index, { megabytes }] of samples.entries()) {
    const dx = (minutes[index] ?? 0) - meanX;
    xx += dx * dx;
    xy += dx * (megabytes - meanY);
  }
  const slope = xy / xx;
  const residual = samples.reduce(
    (sum, { megabytes }, index) => sum + (megabytes - meanY - slope * ((minutes[index] ?? 0) - meanX)) ** 2,
    0,
  );
  return { slope, error: Math.sqrt(residual / Math.max(1, n - 2) / xx) };
}
