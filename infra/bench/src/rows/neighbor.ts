import {
  ATTACK_NAMES,
  Attackers,
  HonestPerson,
  REQUEST_KINDS,
  latencies,
  type AttackName,
  type AttackResult,
  type RequestKind,
  type RequestLatency,
  type RequestSample,
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
  readonly samples: readonly RequestSample[];
  readonly attack: AttackResult | null;
  /** From the end of the attack until writes were as when it is calm. */
  readonly recoveredMs: number;
}

interface Beside extends Readonly<Record<RequestKind, RequestLatency>> {
  readonly refusals: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
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
  await using honest = await HonestPerson.start(testSystem);
  await using attackers = await Attackers.prepare(testSystem, names, {
    onPrepared: (name) => say(`${name} is prepared`),
  });
  const calm = await work(honest, seconds);
  const calmWriteMs = latencies(calm.samples).write.p50Ms;
  const turn = async (name: AttackName): Promise<Turn> => {
    await attackers.begin(name);
    await pause(WARM_UP_MS);
    const { samples } = await work(honest, seconds);
    const attack = await attackers.end(name);
    return { samples, attack, recoveredMs: await untilCalm(honest, calmWriteMs) };
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
  return { samples: honest.take(), attack: null, recoveredMs: 0 };
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
  const outcomes: Record<string, number> = {};
  for (const { attack } of turns)
    for (const [outcome, count] of Object.entries(attack?.outcomes ?? {}))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  return {
    ...latencies(samples),
    refusals: samples.flatMap(({ kind, refusal }) => (refusal === null ? [] : [`${kind}: ${refusal}`])),
    leaks: turns.flatMap(({ attack }) => attack?.leaks ?? []),
    outcomes,
    recoveredMs: Math.max(...turns.map(({ recoveredMs }) => recoveredMs)),
    attackerCpu: turns.reduce((sum, { attack }) => sum + (attack?.cpuShare ?? 0), 0) / turns.length,
  };
}

/** The worst of the three. */
function ratios(one: Beside, calm: Beside): { p50: number; p99: number } {
  const most = (of: (latency: RequestLatency) => number): number =>
    Math.max(...REQUEST_KINDS.map((kind) => of(one[kind]) / of(calm[kind])));
  return { p50: most(({ p50Ms }) => p50Ms), p99: most(({ p99Ms }) => p99Ms) };
}

const short = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const words = (one: Beside): string =>
  `${REQUEST_KINDS.map((kind) => `${kind} ${short(one[kind].p50Ms)}/${short(one[kind].p99Ms)}`).join(', ')} ms`;

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
  const header = ['ms', ...REQUEST_KINDS.flatMap((kind) => [`${kind} p50`, 'p99', 'ratio'])];
  const cells = (one: Beside): string[] =>
    REQUEST_KINDS.flatMap((kind) => {
      const { p50Ms, p99Ms } = one[kind];
      const ratio = `${short(p50Ms / calm[kind].p50Ms)}x ${short(p99Ms / calm[kind].p99Ms)}x`;
      return [short(p50Ms), short(p99Ms), one === calm ? '' : ratio];
    });
  const outcomesOf = ({ outcomes }: Beside): string =>
    Object.entries(outcomes)
      .map(([outcome, count]) => `${count} x ${outcome}`)
      .join(', ');
  return grid(
    [...header, 'refused', 'calm after', 'attacker CPU', 'outcomes of the attacker'],
    [
      ['calm', ...cells(calm), String(calm.refusals.length), '', '', ''],
      ...all.map(([name, one]) => [
        name,
        ...cells(one),
        `${one.refusals.length} of ${REQUEST_KINDS.reduce((sum, kind) => sum + one[kind].count, 0)}`,
        `${(one.recoveredMs / 1000).toFixed(1)} s`,
        percent(one.attackerCpu),
        outcomesOf(one),
      ]),
    ],
  );
}
