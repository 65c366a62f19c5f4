/**
 * When a delivery is attempted again: seven steps, so eight attempts, after which the delivery has failed. Keeps
 * webhooks.retry.schedule, webhooks.retry.eight-attempts and limits.webhook.attempts.
 */
export interface RetrySchedule {
  /** The time from one attempt's end to the next attempt, at least. */
  readonly stepsMs: readonly number[];
}

const STEPS = 7;
/** Steps up to this are kept exactly; longer ones get jitter, so that the retries of an outage do not come all at once. */
const EXACT_MS_MAX = 5_000;
const JITTER_SHARE_MAX = 0.1;
/** A consumer may lengthen a step with `Retry-After`, up to this many times the step. */
const LONGER_MAX = 2;

const DURATION = /^(\d{1,9})(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION_MS_MAX = 30 * 24 * 3_600_000;

/** `5s`, `72h`. Throws an Error whose message completes "VARIABLE ...". */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = DURATION.exec(text.trim()) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (!(ms > 0 && ms <= DURATION_MS_MAX)) throw new Error('must be a duration such as 250ms, 5s, 30m or 72h');
  return ms;
}

/** `5s,5m,30m,2h,5h,10h,10h`. Throws an Error whose message completes "VARIABLE ...". */
export function parseRetrySchedule(text: string): RetrySchedule {
  const steps = text.split(',');
  if (steps.length !== STEPS) throw new Error(`must be ${STEPS} durations separated by commas`);
  return { stepsMs: steps.map(parseDuration) };
}

interface FailedAttempt {
  /** Of the schedule, this one included; attempts that were requested by hand do not count. */
  readonly scheduledAttempts: number;
  /** Of `Retry-After`. */
  readonly retryAfterMs: number | null;
}

/** From the end of a failed attempt to the next one; null when it was the last. `random` is in [0, 1). */
export function nextDelayMs(
  { stepsMs }: RetrySchedule,
  { scheduledAttempts, retryAfterMs }: FailedAttempt,
  random: () => number,
): number | null {
  const stepMs = stepsMs[scheduledAttempts - 1];
  if (stepMs === undefined) return null;
  const jitterMs = stepMs > EXACT_MS_MAX ? stepMs * JITTER_SHARE_MAX * random() : 0;
  const askedMs = Math.min(retryAfterMs ?? 0, stepMs * LONGER_MAX);
  return Math.ceil(Math.max(stepMs + jitterMs, askedMs));
}
