import assert from 'node:assert/strict';
import { measureGrowth, robustSlope, type ProcessRun, type MemoryRules, type MemorySample } from './memory.ts';

const rules: MemoryRules = { warmUpMs: 60_000, steadySinceMs: 0, watchedMsMin: 90_000, perMinuteMax: 1 };
const EVERY_MS = 5_000;

/** A run with a sample every five seconds; `at` gives the megabytes after so many minutes. */
function run(minutes: number, at: (minutes: number) => number, startedMs = 1_000_000): ProcessRun {
  const samples = Array.from({ length: (minutes * 60_000) / EVERY_MS }, (_, index): MemorySample => {
    const ageMs = index * EVERY_MS;
    return { atMs: startedMs + ageMs, megabytes: at(ageMs / 60_000) };
  });
  return { process: 'sync-1', startedMs, samples };
}

const growthOf = (...runs: readonly ProcessRun[]) => {
  const [growth] = measureGrowth(runs, rules);
  return growth!;
};
/** Deterministic, but without a trend. */
const noise = (minutes: number): number => Math.sin(minutes * 7_919) * 4;

describe('memory growth', () => {
  it('is found when a process takes more memory every minute, with or without noise', () => {
    assert.equal(growthOf(run(5, (minutes) => 50 + 2 * minutes)).isFlat, false);
    const growth = growthOf(run(5, (minutes) => 50 + 3 * minutes + noise(minutes)));
    assert.equal(growth.isFlat, false);
    assert.ok(Math.abs(growth.perMinute! - 3) < 1, String(growth.perMinute));
  });

  it('is not found when a process takes the same memory, with or without noise', () => {
    assert.equal(growthOf(run(5, () => 50)).perMinute, 0);
    assert.equal(growthOf(run(5, (minutes) => 50 + noise(minutes))).isFlat, true);
  });

  it('is not found for a saw tooth, but for a saw tooth on a slope', () => {
    const tooth = (minutes: number): number => 20 * ((minutes * 3) % 1);
    assert.equal(growthOf(run(6, (minutes) => 50 + tooth(minutes))).isFlat, true);
    assert.equal(growthOf(run(6, (minutes) => 50 + tooth(minutes) + 4 * minutes)).isFlat, false);
  });

  it('is measured without regard to a few outliers', () => {
    const growth = growthOf(run(5, (minutes) => (Math.round(minutes * 12) % 9 === 0 ? 500 : 50)));
    assert.deepEqual([growth.isFlat, growth.peak], [true, 500]);
  });

  it('does not count the warm-up, and a restart does not hide a leak', () => {
    const warming = (minutes: number): number => 50 + 60 * Math.min(1, minutes);
    const [first, second] = [run(4, warming), run(4, warming, 2_000_000)];
    assert.deepEqual(growthOf(first, second), {
      process: 'sync-1',
      perMinute: 0,
      runs: 2,
      latest: 110,
      peak: 110,
      isFlat: true,
    });
    // Each new run starts small: over all runs the slope is negative.
    const leaking = (minutes: number): number => warming(minutes) + 3 * minutes;
    assert.equal(growthOf(run(4, leaking), run(3, leaking, 2_000_000)).isFlat, false);
  });

  it('is measured only while the load is constant: a falling load does not hide a leak', () => {
    const startedMs = 1_000_000;
    // A load of 60 MB for three minutes, then one of 10 MB, and a leak all the time.
    const leaking = run(8, (minutes) => (minutes < 3 ? 60 : Math.max(10, 60 - 50 * (minutes - 3))) + 3 * minutes);
    assert.equal(measureGrowth([leaking], rules)[0]!.isFlat, true);
    const [growth] = measureGrowth([leaking], { ...rules, steadySinceMs: startedMs + 3 * 60_000 });
    assert.deepEqual([Math.round(growth!.perMinute!), growth!.isFlat], [3, false]);
    const [young] = measureGrowth([leaking], { ...rules, steadySinceMs: startedMs + 6 * 60_000 });
    assert.equal(young!.perMinute, null);
  });

  it('is that of the run that grew most', () => {
    const growth = growthOf(
      run(4, () => 50),
      run(4, (minutes) => 5 * minutes, 2_000_000),
      run(4, () => 50, 3_000_000),
    );
    assert.deepEqual([growth.runs, Math.round(growth.perMinute!), growth.isFlat], [3, 5, false]);
  });

  it('is unknown, and not flat, when no run was watched for long enough', () => {
    const growth = growthOf(
      run(2, () => 50),
      run(2, () => 50, 2_000_000),
    );
    assert.deepEqual([growth.perMinute, growth.runs, growth.isFlat], [null, 0, false]);
    assert.equal(growthOf({ process: 'sync-1', startedMs: 0, samples: [] }).isFlat, false);
  });

  it('is measured for each process separately', () => {
    const other = { ...run(5, (minutes) => 9 * minutes), process: 'gateway' };
    const verdicts = measureGrowth([run(5, () => 50), other], rules);
    assert.deepEqual(
      verdicts.map(({ process, isFlat }) => [process, isFlat]),
      [
        ['sync-1', true],
        ['gateway', false],
      ],
    );
  });
});

describe('robustSlope', () => {
  it('is that of the line through the samples when a quarter of them are outliers', () => {
    const samples = Array.from({ length: 40 }, (_, index) => ({
      atMs: index * 60_000,
      megabytes: index % 5 === 0 ? 1_000 * Math.sin(index) : 10 + 2 * index,
    }));
    assert.ok(Math.abs(robustSlope(samples) - 2) < 0.1);
  });

  it('is 0 for samples of one moment', () => {
    assert.equal(robustSlope([{ atMs: 1, megabytes: 5 }]), 0);
    assert.equal(
      robustSlope([
        { atMs: 1, megabytes: 5 },
        { atMs: 1, megabytes: 9 },
      ]),
      0,
    );
  });
});
