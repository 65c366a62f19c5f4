import assert from 'node:assert/strict';
import { judgeMemory, robustSlope, type Life, type MemoryRules, type Sample } from './memory.ts';

const rules: MemoryRules = { warmUpMs: 60_000, steadySinceMs: 0, judgedMsMin: 90_000, perMinuteMax: 1 };
const EVERY_MS = 5_000;

/** A life that is looked at every five seconds; `at` says how much it takes after so many minutes. */
function life(minutes: number, at: (minutes: number) => number, bornMs = 1_000_000): Life {
  const samples = Array.from({ length: (minutes * 60_000) / EVERY_MS }, (_, index): Sample => {
    const ageMs = index * EVERY_MS;
    return { atMs: bornMs + ageMs, megabytes: at(ageMs / 60_000) };
  });
  return { process: 'sync-1', bornMs, samples };
}

const judge = (...lives: readonly Life[]) => {
  const [growth] = judgeMemory(lives, rules);
  return growth!;
};
/** Always the same, and as good as random. */
const noise = (minutes: number): number => Math.sin(minutes * 7_919) * 4;

describe('the verdict on memory', () => {
  it('is that a process grows which takes more every minute, noise or not', () => {
    assert.equal(judge(life(5, (minutes) => 50 + 2 * minutes)).isFlat, false);
    const growth = judge(life(5, (minutes) => 50 + 3 * minutes + noise(minutes)));
    assert.equal(growth.isFlat, false);
    assert.ok(Math.abs(growth.perMinute! - 3) < 1, String(growth.perMinute));
  });

  it('is that a process is flat which takes the same all the time, noise or not', () => {
    assert.equal(judge(life(5, () => 50)).perMinute, 0);
    assert.equal(judge(life(5, (minutes) => 50 + noise(minutes))).isFlat, true);
  });

  it('is that a saw tooth is flat, and a saw tooth on a slope is not', () => {
    const tooth = (minutes: number): number => 20 * ((minutes * 3) % 1);
    assert.equal(judge(life(6, (minutes) => 50 + tooth(minutes))).isFlat, true);
    assert.equal(judge(life(6, (minutes) => 50 + tooth(minutes) + 4 * minutes)).isFlat, false);
  });

  it('pays no attention to a few samples that are anything', () => {
    const growth = judge(life(5, (minutes) => (Math.round(minutes * 12) % 9 === 0 ? 500 : 50)));
    assert.deepEqual([growth.isFlat, growth.peak], [true, 500]);
  });

  it('does not take warming up for growth, nor a restart for shrinking', () => {
    const warming = (minutes: number): number => 50 + 60 * Math.min(1, minutes);
    const [first, second] = [life(4, warming), life(4, warming, 2_000_000)];
    assert.deepEqual(judge(first, second), {
      process: 'sync-1',
      perMinute: 0,
      judgedProcesses: 2,
      latest: 110,
      peak: 110,
      isFlat: true,
    });
    // Each new life begins small: over all of them the slope is negative.
    const leaking = (minutes: number): number => warming(minutes) + 3 * minutes;
    assert.equal(judge(life(4, leaking), life(3, leaking, 2_000_000)).isFlat, false);
  });

  it('looks only at what came after the load was steady: a load that falls does not hide a leak', () => {
    const bornMs = 1_000_000;
    // Three minutes of a load that takes 60 MB, then one that takes 10, and a leak all the time.
    const leaking = life(8, (minutes) => (minutes < 3 ? 60 : Math.max(10, 60 - 50 * (minutes - 3))) + 3 * minutes);
    assert.equal(judgeMemory([leaking], rules)[0]!.isFlat, true);
    const [growth] = judgeMemory([leaking], { ...rules, steadySinceMs: bornMs + 3 * 60_000 });
    assert.deepEqual([Math.round(growth!.perMinute!), growth!.isFlat], [3, false]);
    const [young] = judgeMemory([leaking], { ...rules, steadySinceMs: bornMs + 6 * 60_000 });
    assert.equal(young!.perMinute, null);
  });

  it('counts the life that grew most', () => {
    const growth = judge(
      life(4, () => 50),
      life(4, (minutes) => 5 * minutes, 2_000_000),
      life(4, () => 50, 3_000_000),
    );
    assert.deepEqual([growth.judgedProcesses, Math.round(growth.perMinute!), growth.isFlat], [3, 5, false]);
  });

  it('is none, and so not flat, when no life was long enough', () => {
    const growth = judge(
      life(2, () => 50),
      life(2, () => 50, 2_000_000),
    );
    assert.deepEqual([growth.perMinute, growth.judgedProcesses, growth.isFlat], [null, 0, false]);
    assert.equal(judge({ process: 'sync-1', bornMs: 0, samples: [] }).isFlat, false);
  });

  it('is given for each process by itself', () => {
    const other = { ...life(5, (minutes) => 9 * minutes), process: 'gateway' };
    const verdicts = judgeMemory([life(5, () => 50), other], rules);
    assert.deepEqual(
      verdicts.map(({ process, isFlat }) => [process, isFlat]),
      [
        ['sync-1', true],
        ['gateway', false],
      ],
    );
  });
});

describe('the robust slope', () => {
  it('is that of the line through all but a quarter of the samples', () => {
    const samples = Array.from({ length: 40 }, (_, index) => ({
      atMs: index * 60_000,
      megabytes: index % 5 === 0 ? 1_000 * Math.sin(index) : 10 + 2 * index,
    }));
    assert.ok(Math.abs(robustSlope(samples) - 2) < 0.1);
  });

  it('of one moment, or of nothing, is none', () => {
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
