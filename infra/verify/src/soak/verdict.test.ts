import assert from 'node:assert/strict';
import type { Life } from './memory.ts';
import { DEEDS } from '../hostile/samples.ts';
import { CALM_MS_MIN, verdictOf, type Evidence } from './verdict.ts';

const CALM_SINCE_MS = 1_000_000;

function life(process: string, perMinute: number, lastsMs = CALM_MS_MIN): Life {
  const samples = Array.from({ length: lastsMs / 5_000 }, (_, index) => ({
    atMs: CALM_SINCE_MS + index * 5_000,
    megabytes: 40 + (perMinute * index) / 12,
  }));
  return { process, bornMs: 0, samples };
}

function evidence(changed: Partial<Evidence> = {}): Evidence {
  return {
    acknowledged: 10,
    retries: 1,
    delivered: 100,
    rounds: 3,
    disturbances: 16,
    findings: [],
    calmSinceMs: CALM_SINCE_MS,
    processes: ['sync-1', 'gateway'],
    alive: [life('sync-1', 0), life('gateway', 0.1)],
    native: [life('sync-1', 0), life('gateway', 0.1)],
    resident: [life('sync-1', 20)],
    fairness: null,
    ...changed,
  };
}

const isSound = (changed: Partial<Evidence>): boolean => verdictOf(evidence(changed)).isSound;
const textOf = (changed: Partial<Evidence>): string => verdictOf(evidence(changed)).lines.join('\n');

describe('the verdict of a soak', () => {
  it('is sound when nothing was found and memory is flat, whatever is resident', () => {
    assert.ok(isSound({}));
    assert.match(
      textOf({}),
      /0 missing, 0 doubled, 0 out of order, 0 foreign, 0 acknowledged and lost, 0 applied twice/,
    );
  });

  it('is not sound for a single finding of any kind, which it counts and shows', () => {
    for (const [promise, word] of [
      ['nothing-missing', '1 missing'],
      ['nothing-doubled', '1 doubled'],
      ['in-order', '1 out of order'],
      ['applied-once', '1 applied twice'],
      ['dense', '1 other findings'],
    ] as const) {
      const findings = [{ promise, seen: 'entry 7' }];
      assert.equal(isSound({ findings }), false);
      assert.ok(textOf({ findings }).includes(word), word);
      assert.match(textOf({ findings }), /BROKEN .*entry 7[^]*NOT KEPT/);
    }
  });

  it('is not sound when one process grows, alive or outside of the heap', () => {
    assert.equal(isSound({ alive: [life('sync-1', 0), life('gateway', 2)] }), false);
    assert.equal(isSound({ native: [life('sync-1', 5), life('gateway', 0)] }), false);
    assert.match(
      textOf({ alive: [life('sync-1', 0), life('gateway', 2)] }),
      /gateway: .*2\.00 MB a minute, 1 allowed: GROWS[^]*NOT FLAT/,
    );
  });

  it('is not sound when a process was not seen for long enough, or not at all', () => {
    const short = [life('sync-1', 0), life('gateway', 0, CALM_MS_MIN - 60_000)];
    assert.equal(isSound({ alive: short }), false);
    assert.match(textOf({ alive: short }), /gateway: .*LONG ENOUGH/);
    assert.equal(isSound({ alive: [life('sync-1', 0)] }), false);
    assert.match(textOf({ alive: [life('sync-1', 0)] }), /gateway: WAS NEVER SEEN/);
  });

  it('is not sound when an honest person was refused while nothing was away, and counts what was refused meanwhile', () => {
    const refused = { deed: 'write', atMs: 5_000, tookMs: 10, refusal: '503 try again' } as const;
    const attacks = new Map([['dup', 1]] as const);
    const answered = DEEDS.map((deed) => ({ deed, atMs: 1_000, tookMs: 10, refusal: null }));
    const of = (disturbed: { fromMs: number; toMs: number }[]): Partial<Evidence> => ({
      fairness: { samples: [...answered, refused], disturbed, attacks },
    });
    assert.equal(isSound(of([])), false);
    assert.match(textOf(of([])), /refused +1 x write: 503 try again[^]*NOT FAIR: 1 honest[^]*NOT SOUND$/);
    const away = of([{ fromMs: 5_005, toMs: 6_000 }]);
    assert.ok(isSound(away));
    assert.match(textOf(away), /during kills 1 refused[^]*\nSOUND$/);
    assert.equal(isSound({ fairness: { samples: answered, disturbed: [], attacks: new Map() } }), false);
    const unseen = { fairness: { samples: answered.slice(1), disturbed: [], attacks } };
    assert.match(textOf(unseen), /NOT FAIR: no honest write was seen[^]*NOT SOUND$/);
  });
});
