import {
  ATTACK_NAMES,
  Attackers,
  DEEDS,
  HonestPerson,
  latencies,
  type AttackName,
  type Deed,
  type Latency,
  type Met,
  type Sample,
} from '@wts/verify';
import { setTimeout as pause } from 'node:timers/promises';
import { grid, percent, type Row } from '../report.ts';
import { inTurns } from '../rounds.ts';
import type { Findings, Scene } from '../scene.ts';

const P50_RATIO_MAX = 3;
const P99_RATIO_MAX = 10;
/** What an attack does at its beginning is part of it; what it does to connections that are opened first is not. */
const WARM_UP_MS = 1_000;
/** Between two attacks: until writes take no longer than this many times as long as when it is calm. */
const CALM_AGAIN_RATIO = 3;
const LOOK_MS = 500;
const CALM_AGAIN_MS_MAX = 60_000;

/** One turn beside an attack, or without one. */
interface Turn {
  readonly samples: readonly Sample[];
  readonly met: Met | null;
  /** From the end of the attack until writes were as when it is calm. */
  readonly recoveredMs: number;
}

interface Beside extends Readonly<Record<Deed, Latency>> {
  readonly refusals: readonly string[];
  readonly answers: Readonly<Record<string, number>>;
  readonly leaks: readonly string[];
  readonly recoveredMs: number;
  /** Of one processor. */
  readonly attackerCpu: number;
}

/**
 * What one caller costs the others: an honest person's write, page of the log and snapshot at an even pace, calm and beside
 * each attack. The samples of all rounds are taken together, because a 99th percentile needs many.
 */
export async function neighborRows({ testSystem, rounds, seconds, say }: Scene): Promise<Findings> {
  const names = chosen(process.env['ATTACKS']);
  await using honest = await HonestPerson.settle(testSystem);
  await using attackers = await Attackers.prepare(testSystem, names, {
    onPrepared: (name) => say(`${name} is prepared`),
  });
  const calm = await work(honest, seconds);
  const calmWriteMs = latencies(calm.samples).write.p50Ms;
  const turn = async (name: AttackName): Promise<Turn> => {
    await attackers.begin(name);
    await pause(WARM_UP_MS);
    const { samples } = await work(honest, seconds);
    const met = await attackers.end(name);
    return { samples, met, recoveredMs: await untilCalm(honest, calmWriteMs) };
  };
  const measured = await inTurns<AttackName | 'calm', Turn>(rounds, {
    calm: () => work(honest, seconds),
    ...Object.fromEntries(names.map((name) => [name, () => turn(name)])),
  });
  const quiet = together([calm, ...measured.calm]);
  const all = names.map((name) => [name, together(measured[name])] as const);
  for (const line of wide(quiet, all).split('\n')) say(line);
  for (const [name, { refusals, leaks }] of all)
    for (const text of [...new Set([...leaks, ...refusals])].slice(0, 3)) say(`beside ${name}: ${text}`);
  return { rows: all.map(([name, one]) => rowOf(name, one, quiet)), raw: { calm: quiet, ...Object.fromEntries(all) } };
}

/** All, or those named in ATTACKS, to look into one of them. */
function chosen(named = ''): readonly AttackName[] {
  const wanted = named.split(',').filter((name) => name !== '');
  const unknown = wanted.filter((name) => !(ATTACK_NAMES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(`no such attack: ${unknown.join(', ')}; there are ${ATTACK_NAMES.join(', ')}`);
  return wanted.length === 0 ? ATTACK_NAMES : ATTACK_NAMES.filter((name) => wanted.includes(name));
}

async function work(honest: HonestPerson, seconds: number): Promise<Turn> {
  honest.take();
  honest.begin();
  await pause(seconds * 1000);
  await honest.end();
  return { samples: honest.take(), met: null, recoveredMs: 0 };
}

async function untilCalm(honest: HonestPerson, calmWriteMs: number): Promise<number> {
  const startedMs = performance.now();
  honest.take();
  honest.begin();
  let tookMs = 0;
  for (let isCalm = false; !isCalm && tookMs < CALM_AGAIN_MS_MAX; tookMs = performance.now() - startedMs) {
    await pause(LOOK_MS);
    const recent = honest.take().filter(({ atMs }) => atMs > Date.now() - 2 * LOOK_MS);
    const { write } = latencies(recent);
    isCalm = write.p50Ms <= calmWriteMs * CALM_AGAIN_RATIO && recent.every(({ refusal }) => refusal === null);
  }
  await honest.end();
  return tookMs;
}

function together(turns: readonly Turn[]): Beside {
  const samples = turns.flatMap((turn) => turn.samples);
  const answers: Record<string, number> = {};
  for (const { met } of turns)
    for (const [answer, count] of Object.entries(met?.answers ?? {})) answers[answer] = (answers[answer] ?? 0) + count;
  return {
    ...latencies(samples),
    refusals: samples.flatMap(({ deed, refusal }) => (refusal === null ? [] : [`${deed}: ${refusal}`])),
    leaks: turns.flatMap(({ met }) => met?.leaks ?? []),
    answers,
    recoveredMs: Math.max(...turns.map(({ recoveredMs }) => recoveredMs)),
    attackerCpu: turns.reduce((sum, { met }) => sum + (met?.cpuShare ?? 0), 0) / turns.length,
  };
}

/** The worst of the three. */
function ratios(one: Beside, calm: Beside): { p50: number; p99: number } {
  const most = (of: (latency: Latency) => number): number =>
    Math.max(...DEEDS.map((deed) => of(one[deed]) / of(calm[deed])));
  return { p50: most(({ p50Ms }) => p50Ms), p99: most(({ p99Ms }) => p99Ms) };
}

const short = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const words = (one: Beside): string =>
  `${DEEDS.map((deed) => `${deed} ${short(one[deed].p50Ms)}/${short(one[deed].p99Ms)}`).join(', ')} ms`;

function rowOf(name: AttackName, one: Beside, calm: Beside): Row {
  const { p50, p99 } = ratios(one, calm);
  const { length: refused } = one.refusals;
  return {
    what: `an honest person beside \`${name}\``,
    ours: `${words(one)}; ${refused} refused`,
    against: `calm ${words(calm)}`,
    ratio: `p50 ${short(p50)}x, p99 ${short(p99)}x`,
    goal: `p50 <= ${P50_RATIO_MAX}x, p99 <= ${P99_RATIO_MAX}x, 0 refused`,
    isReached: p50 <= P50_RATIO_MAX && p99 <= P99_RATIO_MAX && refused === 0 && one.leaks.length === 0,
  };
}

/** Every figure in a column of its own. */
function wide(calm: Beside, all: readonly (readonly [AttackName, Beside])[]): string {
  const header = ['ms', ...DEEDS.flatMap((deed) => [`${deed} p50`, 'p99', 'ratio'])];
  const cells = (one: Beside): string[] =>
    DEEDS.flatMap((deed) => {
      const { p50Ms, p99Ms } = one[deed];
      const ratio = `${short(p50Ms / calm[deed].p50Ms)}x ${short(p99Ms / calm[deed].p99Ms)}x`;
      return [short(p50Ms), short(p99Ms), one === calm ? '' : ratio];
    });
  const answersOf = ({ answers }: Beside): string =>
    Object.entries(answers)
      .map(([answer, count]) => `${count} x ${answer}`)
      .join(', ');
  return grid(
    [...header, 'refused', 'calm after', 'its CPU', 'the attacker met'],
    [
      ['calm', ...cells(calm), String(calm.refusals.length), '', '', ''],
      ...all.map(([name, one]) => [
        name,
        ...cells(one),
        `${one.refusals.length} of ${DEEDS.reduce((sum, deed) => sum + one[deed].count, 0)}`,
        `${(one.recoveredMs / 1000).toFixed(1)} s`,
        percent(one.attackerCpu),
        answersOf(one),
      ]),
    ],
  );
}
