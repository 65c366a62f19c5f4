import type { RetrySchedule } from './schedule.ts';

/**
 * When failures switch an endpoint off. Keeps webhooks.disable.three-days and webhooks.disable.gone.
 *
 * No delivery lasts three days, and a number of failures is minutes at a busy endpoint and days at a quiet one. So the rule
 * is about time with evidence in it: the endpoint has failed since `failingSince` without a single success, in at least as
 * many attempts as one delivery has, and without a long silence between two failures, in which
 * nothing is known about it. Any success ends the failing.
 */
export interface Failing {
  /** Failed attempts since the last success. */
  readonly consecutiveFailures: number;
  /** The first of them; a later one when there was a silence. */
  readonly failingSinceMs: number | null;
  readonly lastFailureMs: number | null;
}

export interface DisableRule {
  /** WEBHOOK_DISABLE_AFTER. */
  readonly afterMs: number;
  /** A silence longer than this begins the failing anew. */
  readonly silenceMsMax: number;
  readonly failuresMin: number;
}

export type DisabledReason = 'consecutive_failures' | 'gone';

/** 410 Gone. */
export const isGone = (statusCode: number | null): boolean => statusCode === 410;

const SILENCE_SHARE = 0.5;
/** The waits of the schedule are no silence. */
const SILENCE_STEPS = 2;

export function disableRuleOf(afterMs: number, { stepsMs }: RetrySchedule): DisableRule {
  return {
    afterMs,
    silenceMsMax: Math.max(afterMs * SILENCE_SHARE, SILENCE_STEPS * Math.max(...stepsMs)),
    failuresMin: stepsMs.length + 1,
  };
}

/** The failing of an endpoint after one more failed attempt. */
export function afterFailure(before: Failing, atMs: number, { silenceMsMax }: DisableRule): Failing {
  const isContinued = before.lastFailureMs !== null && atMs - before.lastFailureMs <= silenceMsMax;
  return {
    consecutiveFailures: before.consecutiveFailures + 1,
    failingSinceMs: isContinued ? (before.failingSinceMs ?? atMs) : atMs,
    lastFailureMs: Math.max(atMs, before.lastFailureMs ?? atMs),
  };
}

/** Why an endpoint that failed at `atMs` is switched off; null when it is not. */
export function disabledReasonOf(
  failing: Failing,
  { atMs, statusCode }: { readonly atMs: number; readonly statusCode: number | null },
  { afterMs, failuresMin }: DisableRule,
): DisabledReason | null {
  if (isGone(statusCode)) return 'gone';
  const { consecutiveFailures, failingSinceMs } = failing;
  if (consecutiveFailures < failuresMin || failingSinceMs === null) return null;
  return atMs - failingSinceMs >= afterMs ? 'consecutive_failures' : null;
}
