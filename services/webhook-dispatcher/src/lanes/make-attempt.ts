import type { Logger } from '@wts/service-kit/observe';
import type { AttemptRequest, AttemptResult, SendAttempt } from '../domain/attempt.ts';
import { nextDelayMs, type RetrySchedule } from '../domain/schedule.ts';
import type { DispatchLimits } from '../limits.ts';
import type { BegunAttempt, DueDelivery, EndpointSettings } from '../store/lanes.ts';
import type { LaneMetrics } from './metrics.ts';
import type { SettledOutcome } from './recorder.ts';
import type { Slot } from './slots.ts';

/** A delivery whose turn comes, with when its event was committed, on the monotonic clock. */
export type Due = DueDelivery & { readonly committedMs: number };

/** What an attempt needs when it begins. */
export interface Permit {
  readonly slot: Slot;
  readonly settings: EndpointSettings;
  readonly secrets: readonly Buffer[];
}

/** What attempts are made with. */
export interface AttemptParts {
  readonly send: SendAttempt;
  readonly schedule: RetrySchedule;
  readonly metrics: LaneMetrics;
  readonly log: Logger;
  readonly limits: Pick<DispatchLimits, 'unrecordedAttemptsMax'>;
  /** Counts in PostgreSQL that an attempt begins; false when it must not. */
  readonly countBegun: (attempt: BegunAttempt) => Promise<boolean>;
}

/** The lease under which an attempt begins. */
interface Lease {
  readonly token: string;
  /** The holder before did not give the lane back: one of these deliveries may have ended its process. */
  readonly isRecovering: boolean;
}

/** Makes one attempt of a delivery and gives its slot back. Null when the attempt could not begin. */
export async function makeAttempt(
  parts: AttemptParts,
  delivery: Due,
  { slot, settings, secrets }: Permit,
  { token, isRecovering }: Lease,
): Promise<SettledOutcome | null> {
  const { endpointId, deliveryId, eventId, eventAt, body, attemptCount, manualAt, committedMs } = delivery;
  const { url } = settings;
  if (isRecovering && !(await isCounted(parts, delivery, token))) {
    slot.free();
    return null;
  }
  slot.begin();
  const startedMs = performance.now();
  const beginsAtMs = settings.clockMs + startedMs;
  if (attemptCount === 0) parts.metrics.firstAttempt((startedMs - committedMs) / 1000);
  const isInterrupted = delivery.unrecordedAttempts >= parts.limits.unrecordedAttemptsMax;
  const request = { url, eventId, body, secrets, beginsAtMs };
  const result = isInterrupted ? interrupted(parts, delivery) : await send(parts, request);
  const settledMs = performance.now();
  slot.free();
  const { statusCode, error, snippet, durationMs } = result;
  const attempted = { endpointId, token, deliveryId, eventAt, url, attemptCount, manualAt };
  const nextMs = delayAfter(parts.schedule, delivery, result);
  return { ...attempted, startedMs, settledMs, durationMs, statusCode, error, snippet, nextDelayMs: nextMs };
}

async function isCounted(parts: AttemptParts, delivery: Due, token: string): Promise<boolean> {
  try {
    return await parts.countBegun({ ...delivery, token });
  } catch (err) {
    parts.log.debug({ err, deliveryId: delivery.deliveryId }, 'an attempt could not be counted; trying again');
    return false;
  }
}

const UNANSWERED = { statusCode: null, snippet: null, retryAfterMs: null, durationMs: 0 };

function interrupted({ log }: AttemptParts, { endpointId, deliveryId }: Due): AttemptResult {
  log.error({ endpointId, deliveryId }, 'a delivery counts as failed: processes ended while they attempted it');
  return { ...UNANSWERED, startedAt: new Date(), error: 'interrupted' };
}

async function send(parts: AttemptParts, request: AttemptRequest): Promise<AttemptResult> {
  try {
    return await parts.send(request);
  } catch (err) {
    parts.log.error({ err }, 'an attempt broke off; it counts as failed');
    return { ...UNANSWERED, startedAt: new Date(), error: 'invalid_response' };
  }
}

/** What is left of the schedule; null after a success, and after an attempt that is not of the schedule. */
function delayAfter(
  schedule: RetrySchedule,
  { manualAt, scheduledAttempts }: Due,
  { error, retryAfterMs }: AttemptResult,
): number | null {
  if (error === null || manualAt !== null) return null;
  return nextDelayMs(schedule, { scheduledAttempts: scheduledAttempts + 1, retryAfterMs }, Math.random);
}
