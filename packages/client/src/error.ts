import type { ErrorCode } from './codes.ts';
import type { ErrorBody } from './wire.ts';

/** An error code of the server, or of the client: no reply, no reply in time, an unreadable reply. */
export type SyncErrorCode = ErrorCode | 'connection_failed' | 'deadline_exceeded' | 'answer_invalid' | 'refused';

interface SyncErrorFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const TEMPORARY_STATUSES = new Set([408, 425, 429, 502, 503, 504]);

export class SyncError extends Error {
  readonly code: SyncErrorCode;
  /** Undefined when there was no reply. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The Retry-After of the server. */
  readonly retryAfterMs: number | undefined;

  constructor(code: SyncErrorCode, message: string, { cause, ...facts }: SyncErrorFacts = {}) {
    super(message, { cause });
    this.name = 'SyncError';
    this.code = code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** True when the same request may succeed later. */
  get isTemporary(): boolean {
    // A request whose reply was lost may still be in progress when it is sent again.
    if (this.code === 'idempotency_in_flight') return true;
    return this.status === undefined || TEMPORARY_STATUSES.has(this.status);
  }
}

/** The error of a reply that is no success. A proxy may reply with another body. */
export async function errorOf(answer: Response): Promise<SyncError> {
  const text = await answer.text();
  const body = parseBody(text);
  const seconds = Number(answer.headers.get('retry-after') ?? body?.retryAfterSeconds ?? Number.NaN);
  const message = `${body?.message ?? body?.error ?? 'No reason was given'} (HTTP ${answer.status})`;
  return new SyncError(body?.code ?? 'answer_invalid', message, {
    status: answer.status,
    requestId: body?.requestId,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

function parseBody(text: string): Partial<ErrorBody> | null {
  try {
    return JSON.parse(text) as Partial<ErrorBody> | null;
  } catch {
    return null;
  }
}
