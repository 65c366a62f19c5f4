import type { webhookApi } from '@wts/contracts';

/** Why an attempt was no success. */
export type AttemptError = (typeof webhookApi.ATTEMPT_ERRORS)[number];

/** What is sent: one event to one endpoint. */
export interface AttemptRequest {
  readonly url: string;
  readonly eventId: string;
  /** The stored text of the event, sent as it is. */
  readonly body: string;
  /** Every secret that is in force, the current one first; 32 bytes each. */
  readonly secrets: readonly Buffer[];
  /** When it begins, in milliseconds since 1970 by the clock of PostgreSQL: that of this process may be wrong. */
  readonly beginsAtMs: number;
  /** The trace of the attempt, for the consumer. */
  readonly traceparent?: string;
}

export interface AttemptResult {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null when no status line came. */
  readonly statusCode: number | null;
  /** Null for a 2xx within the time. */
  readonly error: AttemptError | null;
  /** The beginning of the answer's body, at most 1 KiB of valid text. */
  readonly snippet: string | null;
  /** Of `Retry-After`; null without a valid one. */
  readonly retryAfterMs: number | null;
}

/** Makes one attempt. Never rejects: what went wrong is the result. */
export type SendAttempt = (request: AttemptRequest) => Promise<AttemptResult>;
