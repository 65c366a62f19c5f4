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
import { GOALS } from '../goals.ts';
import { grid, percent, type ReportRow } from '../report.ts';
import { alternate } from '../rounds.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';

/** After an attack the next one waits until writes take at most so many times as long as without attacks. */
const RECOVERED_RATIO = 3;
const POLL_MS = 500;

/** One measurement during an attack, or without one. */
interface Turn {
  readonly samples: readonly RequestSample[];
  readonly attack: AttackResult | null;
  /** From the end of the attack until writes were as quick as without attacks. */
  readonly recoveredMs: number;
}

interface NeighborResult extends Readonly<Record<RequestKind, RequestLatency>> {
  readonly refusals: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  readonly leaks: readonly string[];
  readonly recoveredMs: number;
  /** CPU time of the attacker, as a share of one processor. */
  readonly attackerCpu: number;
}

/**
 * Measures how an attack delays others: an honest person writes, reads pages of the log, loads snapshots, queries GraphQL and gets
 * webhooks at a fixed pace, without and during each attack. A 99th percentile needs many samples, so those of all rounds are combined.
 */
export async function neighborRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, authority, rounds, seconds, sizes, print } = context;
  const names = chosen(process.env['ATTACKS'], sizes.neighbor.attacks);
  await using honest = await HonestPerson.start(testSystem, await authority.issue());
  await using attackers = await Attackers.prepare(testSystem, names, {
    scale: sizes.neighbor.scale,
    onPrepared: (name) => print(`${name} is prepared`),
  });
  const calm = await measureHonest(honest, seconds);
  const calmWriteMs = latencies(calm.samples).write.p50Ms;
  const turn = async (name: AttackName): Promise<Turn> => {
    await attackers.begin(name);
    // Until the attacker has opened its connections.
    await pause(sizes.warmUpSeconds * 1_000);
    const { samples } = await measureHonest(honest, seconds);
    const attack = await attackers.end(name);
    return { samples, attack, recoveredMs: await untilRecovered(honest, calmWriteMs, sizes.neighbor.recoverySeconds) };
  };
  const measured = await alternate<AttackName | 'calm', Turn>(rounds, {
    calm: () => measureHonest(honest, seconds),
    ...Object.fromEntries(names.map((name) => [name, () => turn(name)])),
  });
  const quiet = combine([calm, ...measured.calm]);
  const all = names.map((name) => [name, combine(measured[name])] as const);
  for (const line of fullTable(quiet, all).split('\n')) print(line);
  for (const [name, { refusals, leaks }] of all)
    for (const text of [...new Set([...leaks, ...refusals])].slice(0, 3)) print(`during ${name}: ${text}`);
  return { rows: all.map(([name, one]) => rowOf(name, one, quiet)), raw: { calm: quiet, ...Object.fromEntries(all) } };
}

/** The attacks named in ATTACKS. */
function chosen(named = '', otherwise: readonly AttackName[]): readonly AttackName[] {
  const wanted = named.split(',').filter((name) => name !== '');
  const unknown = wanted.filter((name) => !(ATTACK_NAMES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no attack ${unknown.join(', ')}. Choose from ${ATTACK_NAMES.join(', ')}.`);
  return wanted.length === 0 ? otherwise : ATTACK_NAMES.filter((name) => wanted.includes(name));
}

async function measureHonest(honest: HonestPerson, seconds: number): Promise<Turn> {
  await honest.take();
  await honest.begin();
  await pause(seconds * 1000);
  await honest.end();
  return { samples: await honest.take(), attack: null, recoveredMs: 0 };
}

async function untilRecovered(honest: HonestPerson, calmWriteMs: number, secondsMax: number): Promise<number> {
  const startedMs = performance.now();
  await honest.take();
  await honest.begin();
  let tookMs = 0;
  for (let isCalm = false; !isCalm && tookMs < secondsMax * 1_000; tookMs = performance.now() - startedMs) {
    await pause(POLL_MS);
    const recent = (await honest.take()).filter(({ atMs }) => atMs > Date.now() - 2 * POLL_MS);
    const { write } = latencies(recent);
    isCalm = write.p50Ms <= calmWriteMs * RECOVERED_RATIO && recent.every(({ refusal }) => refusal === null);
  }
  await honest.end();
  return tookMs;
}

function combine(turns: readonly Turn[]): NeighborResult {
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

/** The largest ratio of all kinds of requests. */
function ratios(one: NeighborResult, calm: NeighborResult): { p50: number; p99: number } {
  const most = (of: (latency: RequestLatency) => number): number =>
    Math.max(...REQUEST_KINDS.map((kind) => of(one[kind]) / of(calm[kind])));
  return { p50: most(({ p50Ms }) => p50Ms), p99: most(({ p99Ms }) => p99Ms) };
}

const short = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const textOf = (one: NeighborResult): string =>
  `${REQUEST_KINDS.map((kind) => `${kind} ${short(one[kind].p50Ms)}/${short(one[kind].p99Ms)}`).join(', ')} ms`;

function rowOf(name: AttackName, one: NeighborResult, calm: NeighborResult): ReportRow {
  const { p50, p99 } = ratios(one, calm);
  const { length: refused } = one.refusals;
  return {
    what: `an honest person during \`${name}\``,
    ours: `${textOf(one)}; ${refused} refused`,
    against: `calm ${textOf(calm)}`,
    ratio: `p50 ${short(p50)}x, p99 ${short(p99)}x`,
    goal: `p50 <= ${GOALS.neighbor.p50RatioMax}x, p99 <= ${GOALS.neighbor.p99RatioMax}x, 0 refused`,
    isReached:
      p50 <= GOALS.neighbor.p50RatioMax && p99 <= GOALS.neighbor.p99RatioMax && refused === 0 && one.leaks.length === 0,
  };
}

/** One column for each figure. */
function fullTable(calm: NeighborResult, all: readonly (readonly [AttackName, NeighborResult])[]): string {
  const header = ['ms', ...REQUEST_KINDS.flatMap((kind) => [`${kind} p50`, 'p99', 'ratio'])];
  const cells = (one: NeighborResult): string[] =>
    REQUEST_KINDS.flatMap((kind) => {
      const { p50Ms, p99Ms } = one[kind];
      const ratio = `${short(p50Ms / calm[kind].p50Ms)}x ${short(p99Ms / calm[kind].p99Ms)}x`;
      return [short(p50Ms), short(p99Ms), one === calm ? '' : ratio];
    });
  const outcomesOf = ({ outcomes }: NeighborResult): string =>
    Object.entries(outcomes)
      .map(([outcome, count]) => `${count} x ${outcome}`)
      .join(', ');
  return grid(
    [...header, 'refused', 'recovered after', 'attacker CPU', 'outcomes of the attacker'],
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
