import type { AuditFinding } from '../finding.ts';
import { REQUEST_KINDS } from '../hostile/samples.ts';
import { fairnessText, undisturbed, type Fairness } from './hostile-load.ts';
import type { WebhookReport } from './webhook-check.ts';
import { measureGrowth, type Growth, type MemoryRules, type ProcessRun } from './memory.ts';
import { STREAM_LIMITS } from '@wts/log/stream';

/** The results of a soak. */
export interface Evidence {
  readonly acknowledged: number;
  readonly retries: number;
  readonly delivered: number;
  readonly rounds: number;
  readonly disturbances: number;
  readonly findings: readonly AuditFinding[];
  /** From here on there were no disturbances and the load was constant. */
  readonly calmSinceMs: number;
  /** The processes that must have been watched. */
  readonly processes: readonly string[];
  readonly alive: readonly ProcessRun[];
  readonly native: readonly ProcessRun[];
  /** Only printed, because V8 changes the size of its heap in large steps. */
  readonly resident: readonly ProcessRun[];
  /** Null with attackers. */
  readonly webhooks: WebhookReport | null;
  /** Null without attackers. */
  readonly fairness: Fairness | null;
}

export interface Verdict {
  readonly isPassed: boolean;
  readonly lines: readonly string[];
}

/** After this the ring of recent entries and the caches are full. */
const WARM_UP_MS = STREAM_LIMITS.ringAgeMs + 20_000;
const WATCHED_MS_MIN = 90_000;
/** The length of the calm part that a verdict on memory needs. */
export const CALM_MS_MIN = WARM_UP_MS + WATCHED_MS_MIN + 15_000;
/** Megabytes. A faster growth is a leak that fills 1 GB within a day. Compiled code alone still grows by half of it at first. */
const ALIVE_PER_MINUTE_MAX = 1;
/** Native memory grows and shrinks by the pages of its allocator. */
const NATIVE_PER_MINUTE_MAX = 3;
const FINDINGS_SHOWN = 50;

const DELIVERY = [
  ['nothing-missing', 'missing'],
  ['nothing-doubled', 'doubled'],
  ['in-order', 'out of order'],
  ['nothing-foreign', 'without access'],
  ['acknowledged-is-there', 'acknowledged and lost'],
  ['applied-once', 'applied twice'],
] as const;

/** A soak passes when nothing was found, each process was watched for long enough, and none grew. */
export function verdictOf(evidence: Evidence): Verdict {
  const { findings, calmSinceMs } = evidence;
  const rules = { warmUpMs: WARM_UP_MS, steadySinceMs: calmSinceMs, watchedMsMin: WATCHED_MS_MIN };
  const alive = { ...rules, perMinuteMax: ALIVE_PER_MINUTE_MAX };
  const native = { ...rules, perMinuteMax: NATIVE_PER_MINUTE_MAX };
  const unwatched = evidence.processes.filter((name) => !evidence.alive.some(({ process }) => process === name));
  const growths = [
    ...measureGrowth(evidence.alive, alive).map((growth) => ({ growth, text: growthText('alive', growth, alive) })),
    ...measureGrowth(evidence.native, native).map((growth) => ({ growth, text: growthText('native', growth, native) })),
  ];
  const isDelivered = findings.length === 0;
  const isFlat = unwatched.length === 0 && growths.every(({ growth }) => growth.isFlat);
  const fair = evidence.fairness === null ? null : fairnessOf(evidence.fairness, calmSinceMs);
  const isPassed = isDelivered && isFlat && fair?.isFair !== false;
  const resident = measureGrowth(evidence.resident, native).map(
    ({ process, latest, peak }) => `${process} ${mb(latest)}, at most ${mb(peak)}`,
  );
  return {
    isPassed,
    lines: [
      `changes    ${evidence.acknowledged} acknowledged, ${evidence.retries} sent again; ${evidence.disturbances} disturbances`,
      `received   ${evidence.delivered} entries, checked in ${evidence.rounds} rounds`,
      ...(evidence.webhooks === null ? [] : [`webhooks   ${webhooksText(evidence.webhooks)}`]),
      `findings   ${tally(findings)}`,
      ...growths.map(({ text }) => `memory     ${text}`),
      ...unwatched.map((name) => `memory     ${name}: WAS NEVER MEASURED`),
      `resident   ${resident.join('; ')}`,
      ...trends(evidence.alive).map((trend) => `trend      ${trend}`),
      ...(fair?.lines ?? []),
      ...findings.slice(0, FINDINGS_SHOWN).map(({ guarantee, seen }) => `BROKEN     ${guarantee}: ${seen}`),
      isDelivered
        ? 'Delivery passed: nothing is missing, doubled or out of order.'
        : `DELIVERY FAILED: ${findings.length === 1 ? '1 finding' : `${findings.length} findings`}, see above.`,
      isFlat
        ? 'Memory passed: no process grows.'
        : 'MEMORY FAILED: a process grows, or was not measured for long enough.',
      ...(fair === null
        ? []
        : [fair.isFair ? 'Fairness passed: no honest request was refused.' : `FAIRNESS FAILED: ${fair.why}.`]),
      isPassed ? 'PASSED' : 'FAILED',
    ],
  };
}

function fairnessOf(fairness: Fairness, calmSinceMs: number): { isFair: boolean; why: string; lines: string[] } {
  const { samples, disturbed, attacks } = fairness;
  const attacked = samples.filter(({ atMs }) => atMs < calmSinceMs);
  const calm = samples.filter(({ atMs }) => atMs >= calmSinceMs);
  const counting = undisturbed(fairness);
  const missing = REQUEST_KINDS.filter(
    (wanted) => !counting.some(({ kind, refusal }) => kind === wanted && refusal === null),
  );
  const refusals = counting.flatMap(({ kind, refusal }) => (refusal === null ? [] : [`${kind}: ${refusal}`]));
  const counted = [...Map.groupBy(refusals, (one) => one)].map(([text, same]) => `${same.length} x ${text}`);
  return {
    isFair: refusals.length === 0 && attacks.size > 0 && missing.length === 0,
    why:
      attacks.size === 0
        ? 'no attack ran'
        : refusals.length > 0
          ? `${refusals.length} honest requests were refused outside disturbances`
          : `no honest ${missing.join(', ')} succeeded outside disturbances`,
    lines: [
      `attacks    ${[...attacks].map(([name, count]) => `${count} x ${name}`).join(', ')}`,
      `honest     during attacks: ${fairnessText({ samples: attacked, disturbed })}`,
      `honest     calm: ${fairnessText({ samples: calm, disturbed })}`,
      ...counted.slice(0, FINDINGS_SHOWN).map((line) => `refused    ${line}`),
    ],
  };
}

/** The live memory of each process at the end of each minute, over all its runs. */
function trends(runs: readonly ProcessRun[]): string[] {
  const beganMs = Math.min(...runs.flatMap(({ samples }) => samples.map(({ atMs }) => atMs)));
  return [...Map.groupBy(runs, (run) => run.process)].map(([process, ofProcess]) => {
    const minutes: number[] = [];
    const samples = ofProcess.flatMap((run) => run.samples).toSorted((a, b) => a.atMs - b.atMs);
    for (const { atMs, megabytes } of samples) minutes[Math.floor((atMs - beganMs) / 60_000)] = Math.round(megabytes);
    return `${process}: ${Array.from(minutes, (one) => one ?? '-').join(' ')} MB alive, minute by minute`;
  });
}

export function webhooksText(report: WebhookReport): string {
  const { events, deliveries, attempts, retries, repeats, resends, changes } = report;
  const { rotated, disabled, deleted } = changes;
  const changed = `${rotated} secrets rotated, ${disabled} times an endpoint disabled, ${deleted} endpoints deleted`;
  const more = `${retries} retries, ${repeats} repeats explained by a kill, ${resends} sent again after a reset`;
  return `${events} events, ${deliveries} deliveries in ${attempts} attempts: ${more}; ${changed}`;
}

export function tally(findings: readonly AuditFinding[]): string {
  const counted = DELIVERY.map(([guarantee, word]) => {
    const count = findings.filter((finding) => finding.guarantee === guarantee).length;
    return { count, text: `${count} ${word}` };
  });
  const others = findings.length - counted.reduce((sum, { count }) => sum + count, 0);
  return `${counted.map(({ text }) => text).join(', ')}, ${others} other findings`;
}

function growthText(what: string, growth: Growth, { perMinuteMax }: MemoryRules): string {
  const { process, perMinute, latest, peak, isFlat } = growth;
  const size = `${process}: ${mb(latest)} ${what}, at most ${mb(peak)}`;
  if (perMinute === null) return `${size}: WAS NOT MEASURED FOR LONG ENOUGH`;
  return `${size}; ${perMinute.toFixed(2)} MB per minute, ${perMinuteMax} allowed${isFlat ? '' : ': GROWS'}`;
}

function mb(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`;
}
