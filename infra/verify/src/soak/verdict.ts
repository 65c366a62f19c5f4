import { LIMITS } from '@wts/contracts';
import type { Finding } from '../finding.ts';
import { DEEDS } from '../hostile/samples.ts';
import { undisturbed, wordsOf as fairnessInWords, type Fairness } from './hostility.ts';
import { judgeMemory, type Growth, type Life, type MemoryRules } from './memory.ts';

/** What a soak has come to know. */
export interface Evidence {
  readonly acknowledged: number;
  readonly retries: number;
  readonly delivered: number;
  readonly rounds: number;
  readonly disturbances: number;
  readonly findings: readonly Finding[];
  /** Since then nobody was disturbed and the pace was one. */
  readonly calmSinceMs: number;
  /** All that must have been seen. */
  readonly processes: readonly string[];
  readonly alive: readonly Life[];
  readonly native: readonly Life[];
  /** Told, and not judged: V8 lets its heap grow and shrink in large pieces. */
  readonly resident: readonly Life[];
  /** Null where nobody attacked. */
  readonly fairness: Fairness | null;
}

export interface Verdict {
  readonly isSound: boolean;
  readonly lines: readonly string[];
}

/** The ring of recent entries is full by then, and what else warms up has. */
const WARM_UP_MS = LIMITS.ringAgeMs + 20_000;
const JUDGED_MS_MIN = 90_000;
/** Calm has to last so long for a verdict on memory. */
export const CALM_MS_MIN = WARM_UP_MS + JUDGED_MS_MIN + 15_000;
/**
 * What is alive is counted to the byte. What grows faster than this is a leak that would fill 1 GB within a day; half of it
 * is what compiled code still grows by in the first minutes of a process.
 */
const ALIVE_PER_MINUTE_MAX = 1;
/** What V8 knows nothing of moves by the pages of an allocator. */
const NATIVE_PER_MINUTE_MAX = 3;
const FINDINGS_SHOWN = 50;

const DELIVERY = [
  ['nothing-missing', 'missing'],
  ['nothing-doubled', 'doubled'],
  ['in-order', 'out of order'],
  ['nothing-foreign', 'foreign'],
  ['acknowledged-is-there', 'acknowledged and lost'],
  ['applied-once', 'applied twice'],
] as const;

/** Sound is what was shown to be: nothing found, and each process seen for long enough and not growing. */
export function verdictOf(evidence: Evidence): Verdict {
  const { findings, calmSinceMs } = evidence;
  const rules = { warmUpMs: WARM_UP_MS, steadySinceMs: calmSinceMs, judgedMsMin: JUDGED_MS_MIN };
  const alive = { ...rules, perMinuteMax: ALIVE_PER_MINUTE_MAX };
  const native = { ...rules, perMinuteMax: NATIVE_PER_MINUTE_MAX };
  const unseen = evidence.processes.filter((name) => !evidence.alive.some(({ process }) => process === name));
  const growths = [
    ...judgeMemory(evidence.alive, alive).map((growth) => ({ growth, words: wordsOf('alive', growth, alive) })),
    ...judgeMemory(evidence.native, native).map((growth) => ({ growth, words: wordsOf('native', growth, native) })),
  ];
  const isKept = findings.length === 0;
  const isFlat = unseen.length === 0 && growths.every(({ growth }) => growth.isFlat);
  const fair = evidence.fairness === null ? null : fairnessOf(evidence.fairness, calmSinceMs);
  const isSound = isKept && isFlat && fair?.isFair !== false;
  const told = judgeMemory(evidence.resident, native).map(
    ({ process, latest, peak }) => `${process} ${mb(latest)}, at most ${mb(peak)}`,
  );
  return {
    isSound,
    lines: [
      `changes    ${evidence.acknowledged} acknowledged, ${evidence.retries} sent again; ${evidence.disturbances} disturbances`,
      `heard      ${evidence.delivered} entries judged in ${evidence.rounds} rounds`,
      `kept       ${tally(findings)}`,
      ...growths.map(({ words }) => `memory     ${words}`),
      ...unseen.map((name) => `memory     ${name}: WAS NEVER SEEN`),
      `resident   ${told.join('; ')}`,
      ...trends(evidence.alive).map((trend) => `trend      ${trend}`),
      ...(fair?.lines ?? []),
      ...findings.slice(0, FINDINGS_SHOWN).map(({ promise, seen }) => `BROKEN     ${promise}: ${seen}`),
      isKept ? 'Kept: nothing missing, doubled or out of order.' : `NOT KEPT: ${findings.length} findings, see above.`,
      isFlat ? 'Flat: memory does not grow.' : 'NOT FLAT: memory grows, or was not seen for long enough.',
      ...(fair === null ? [] : [fair.isFair ? 'Fair: no honest person was refused.' : `NOT FAIR: ${fair.why}.`]),
      isSound ? 'SOUND' : 'NOT SOUND',
    ],
  };
}

function fairnessOf(fairness: Fairness, calmSinceMs: number): { isFair: boolean; why: string; lines: string[] } {
  const { samples, disturbed, attacks } = fairness;
  const attacked = samples.filter(({ atMs }) => atMs < calmSinceMs);
  const calm = samples.filter(({ atMs }) => atMs >= calmSinceMs);
  const judged = undisturbed(fairness);
  const unseen = DEEDS.filter((wanted) => !judged.some(({ deed, refusal }) => deed === wanted && refusal === null));
  const refusals = judged.flatMap(({ deed, refusal }) => (refusal === null ? [] : [`${deed}: ${refusal}`]));
  const counted = [...Map.groupBy(refusals, (one) => one)].map(([text, same]) => `${same.length} x ${text}`);
  return {
    isFair: refusals.length === 0 && attacks.size > 0 && unseen.length === 0,
    why:
      attacks.size === 0
        ? 'nobody attacked'
        : refusals.length > 0
          ? `${refusals.length} honest requests were refused while nothing was away`
          : `no honest ${unseen.join(', ')} was seen while nothing was away`,
    lines: [
      `attacks    ${[...attacks].map(([name, count]) => `${count} x ${name}`).join(', ')}`,
      `honest     beside attackers: ${fairnessInWords({ samples: attacked, disturbed })}`,
      `honest     calm: ${fairnessInWords({ samples: calm, disturbed })}`,
      ...counted.slice(0, FINDINGS_SHOWN).map((line) => `refused    ${line}`),
    ],
  };
}

/** What was alive in each process at the end of each minute, over all its lives. */
function trends(lives: readonly Life[]): string[] {
  const beganMs = Math.min(...lives.flatMap(({ samples }) => samples.map(({ atMs }) => atMs)));
  return [...Map.groupBy(lives, ({ process }) => process)].map(([process, ofIt]) => {
    const minutes: number[] = [];
    const samples = ofIt.flatMap((life) => life.samples).toSorted((a, b) => a.atMs - b.atMs);
    for (const { atMs, megabytes } of samples) minutes[Math.floor((atMs - beganMs) / 60_000)] = Math.round(megabytes);
    return `${process}: ${Array.from(minutes, (one) => one ?? '-').join(' ')} MB alive, minute by minute`;
  });
}

function tally(findings: readonly Finding[]): string {
  const counted = DELIVERY.map(([promise, word]) => {
    const count = findings.filter((finding) => finding.promise === promise).length;
    return { count, words: `${count} ${word}` };
  });
  const others = findings.length - counted.reduce((sum, { count }) => sum + count, 0);
  return `${counted.map(({ words }) => words).join(', ')}, ${others} other findings`;
}

function wordsOf(what: string, growth: Growth, { perMinuteMax }: MemoryRules): string {
  const { process, perMinute, latest, peak, isFlat } = growth;
  const size = `${process}: ${mb(latest)} ${what}, at most ${mb(peak)}`;
  if (perMinute === null) return `${size}: NO LIFE OF IT WAS LONG ENOUGH TO JUDGE`;
  return `${size}; ${perMinute.toFixed(2)} MB a minute, ${perMinuteMax} allowed${isFlat ? '' : ': GROWS'}`;
}

function mb(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`;
}
