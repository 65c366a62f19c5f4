import assert from 'node:assert/strict';
import type { ProcessRun } from './memory.ts';
import { REQUEST_KINDS } from '../hostile/samples.ts';
import { CALM_MS_MIN, verdictOf, type Evidence } from './verdict.ts';

const CALM_SINCE_MS = 1_000_000;

function run(process: string, perMinute: number, lastsMs = CALM_MS_MIN): ProcessRun {
  const samples = Array.from({ length: lastsMs / 5_000 }, (_, index) => ({
    atMs: CALM_SINCE_MS + index * 5_000,
    megabytes: 40 + (perMinute * index) / 12,
  }));
  return { process, startedMs: 0, samples };
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
    alive: [run('sync-1', 0), run('gateway', 0.1)],
    native: [run('sync-1', 0), run('gateway', 0.1)],
    resident: [run('sync-1', 20)],
    webhooks: null,
    fairness: null,
    ...changed,
  };
}

const isPassed = (changed: Partial<Evidence>): boolean => verdictOf(evidence(changed)).isPassed;
const textOf = (changed: Partial<Evidence>): string => verdictOf(evidence(changed)).lines.join('\n');

describe('the verdict of a soak', () => {
  it('passes when nothing was found and live memory is flat, whatever is resident', () => {
    assert.ok(isPassed({}));
    assert.match(
      textOf({}),
      /0 missing, 0 doubled, 0 out of order, 0 without access, 0 acknowledged and lost, 0 applied twice/,
    );
  });

  it('fails for a single finding of any kind, and prints it', () => {
    for (const [guarantee, word] of [
      ['nothing-missing', '1 missing'],
      ['nothing-doubled', '1 doubled'],
      ['in-order', '1 out of order'],
      ['applied-once', '1 applied twice'],
      ['dense', '1 other findings'],
    ] as const) {
      const findings = [{ guarantee, seen: 'entry 7' }];
      assert.equal(isPassed({ findings }), false);
      assert.ok(textOf({ findings }).includes(word), word);
      assert.match(textOf({ findings }), /BROKEN .*entry 7[^]*DELIVERY FAILED/);
    }
  });

  it('fails when the live or native memory of one process grows', () => {
    assert.equal(isPassed({ alive: [run('sync-1', 0), run('gateway', 2)] }), false);
    assert.equal(isPassed({ native: [run('sync-1', 5), run('gateway', 0)] }), false);
    assert.match(
      textOf({ alive: [run('sync-1', 0), run('gateway', 2)] }),
      /gateway: .*2\.00 MB per minute, 1 allowed: GROWS[^]*MEMORY FAILED/,
    );
  });

  it('fails when a process was not measured, or not for long enough', () => {
    const short = [run('sync-1', 0), run('gateway', 0, CALM_MS_MIN - 60_000)];
    assert.equal(isPassed({ alive: short }), false);
    assert.match(textOf({ alive: short }), /gateway: .*LONG ENOUGH/);
    assert.equal(isPassed({ alive: [run('sync-1', 0)] }), false);
    assert.match(textOf({ alive: [run('sync-1', 0)] }), /gateway: WAS NEVER MEASURED/);
  });

  it('fails when an honest request was refused outside disturbances, and counts the others', () => {
    const refused = { kind: 'write', atMs: 5_000, tookMs: 10, refusal: '503 try again' } as const;
    const attacks = new Map([['dup', 1]] as const);
    const answered = REQUEST_KINDS.map((kind) => ({ kind, atMs: 1_000, tookMs: 10, refusal: null }));
    const of = (disturbed: { fromMs: number; toMs: number }[]): Partial<Evidence> => ({
      fairness: { samples: [...answered, refused], disturbed, attacks },
    });
    assert.equal(isPassed(of([])), false);
    assert.match(textOf(of([])), /refused +1 x write: 503 try again[^]*FAIRNESS FAILED: 1 honest[^]*FAILED$/);
    const away = of([{ fromMs: 5_005, toMs: 6_000 }]);
    assert.ok(isPassed(away));
    assert.match(textOf(away), /during disturbances 1 refused[^]*\nPASSED$/);
    assert.equal(isPassed({ fairness: { samples: answered, disturbed: [], attacks: new Map() } }), false);
    const unseen = { fairness: { samples: answered.slice(1), disturbed: [], attacks } };
    assert.match(textOf(unseen), /FAIRNESS FAILED: no honest write succeeded[^]*FAILED$/);
  });
});
